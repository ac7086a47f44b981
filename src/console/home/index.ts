// Pages that combine several modules: landing page, dashboard, pricing, status, terms and API documentation.
export { HomeModule } from './home.module.js';
