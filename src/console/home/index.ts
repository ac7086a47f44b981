// The pages that explain the service and sum up an account: the landing page, the dashboard, prices, documentation. Owns
// no data: what they show is asked of the modules that do.
export { HomeModule } from './home.module.js';
