// The page on which people choose their alerts.
export { AlertPagesModule } from './alerts.controller.js';
