// Pages for registering, verifying an email address, and setting a new password.
export { RegistrationPagesModule } from './registration.controller.js';
