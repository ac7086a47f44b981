// The pages on which people register, prove an email address, and set a new password.
export { RegistrationPagesModule } from './registration.controller.js';
