import { describeBothHalves, describeClientHalf, describeUpstreamHalf } from '../../index.js';
import { bothHalves } from './both-halves.js';

describeClientHalf({
  ...bothHalves,
  lacks: {
    'images in results': 'messages of tools are text',
    'reasoning given back': 'there is no place for a seal',
  },
});
describeUpstreamHalf({
  ...bothHalves,
  lacks: { 'limit of the smallest request': 'servers know it by one of two names, and refuse the other' },
});
describeBothHalves(bothHalves);
