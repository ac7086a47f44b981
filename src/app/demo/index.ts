// The demo model: an upstream on loopback that speaks every client protocol, offered while no other channel is enabled.
export { DEMO_MODEL } from './demo.server.js';
export { DemoModule } from './demo.module.js';
