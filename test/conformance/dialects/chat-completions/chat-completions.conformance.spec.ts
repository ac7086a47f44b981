import { describeBothHalves, describeUpstreamHalf } from '../../index.js';
import { bothHalves } from './both-halves.js';

describeUpstreamHalf({
  ...bothHalves,
  lacks: { 'limit of the smallest request': 'servers know it by one of two names, and refuse the other' },
});
describeBothHalves(bothHalves);
