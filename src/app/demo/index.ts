// Owns the built-in demo upstream, so that the first call works without any vendor's account: a small HTTP server on
// loopback that speaks every client's dialect, its model and its channels, offered while no other channel is switched on.
// Its model's name is known outside only to what the terminal shows at the start.
export { DEMO_MODEL } from './demo.routes.js';
export { DemoModule } from './demo.module.js';
