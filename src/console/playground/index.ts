// The playground: requests of a signed-in user to models, paid by one of their keys. Nothing of them is stored.
export { PlaygroundModule } from './playground.controller.js';
