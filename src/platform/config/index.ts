// The settings of the process: the environment, validated once and frozen. Injected as `Config`; nothing else reads
// `process.env`. Also provides the Clock.
export { BaseAddress, Config, ConfigModule } from './config.js';
export { OWN_SECRETS } from './environment.js';
export { PACKAGE_ROOT, VIEWS } from './package-root.js';
