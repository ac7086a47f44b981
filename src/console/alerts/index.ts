// The page on which people choose their alerts.
export { AlertPagesModule } from './alert-pages.module.js';
