import { describeBothHalves, describeClientHalf, describeUpstreamHalf } from '../../index.js';
import { bothHalves } from './both-halves.js';

const lacks = { 'stop texts': 'the dialect has none' };

describeClientHalf({ ...bothHalves, lacks });
describeUpstreamHalf({ ...bothHalves, lacks });
describeBothHalves(bothHalves);
