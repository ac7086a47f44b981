// How clients are pointed here, as text that works when it is pasted. Pure: addresses and models come from whoever
// shows it. The key is read from a variable of the environment in all of them, so that none of them is a secret.
export { clientSnippets } from './client-snippets.js';
export {
  type ClientTab,
  type CodePiece,
  highlighted,
  KEY_VARIABLE,
  type Language,
  type Reachable,
  sampleCall,
  STORE_KEY,
} from './client-tab.js';
