// Pages that combine several modules: landing page, dashboard, pricing, status, terms and API documentation.
export { addressOfTopic, topicsFor } from './docs/topics.js';
export { protocolEndpoints } from './endpoints.js';
export { HomeModule } from './home.module.js';
export { modelAddress } from './pricing/pricing.view.js';
