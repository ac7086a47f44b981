import { describeBothHalves, describeUpstreamHalf } from '../../index.js';
import { bothHalves } from './both-halves.js';

describeUpstreamHalf({
  ...bothHalves,
  lacks: { 'stop texts': 'the dialect has none' },
});
describeBothHalves(bothHalves);
