import { describeBothHalves } from '../../index.js';
import { bothHalves } from './both-halves.js';

describeBothHalves(bothHalves);
