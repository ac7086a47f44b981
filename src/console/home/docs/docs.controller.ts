import { Controller, Get } from '@nestjs/common';
import { Public } from '../../access/index.js';
import { Offer } from '../../../catalog/index.js';
import { Config, BaseAddress } from '../../../platform/config/index.js';
import { AdapterRegistry } from '../../../relay/index.js';
import { Page } from '../../web/index.js';
import { protocolEndpoints } from '../protocol-endpoints.js';
import { docsView } from './docs.view.js';
import { openApiDocument, pathsFor } from './openapi/index.js';

@Controller('docs')
@Public()
export class DocsController {
  constructor(
    private readonly adapters: AdapterRegistry,
    private readonly address: BaseAddress,
    private readonly config: Config,
    private readonly offer: Offer,
  ) {}

  @Get()
  docs(): Page {
    const group = this.offer.groupsFor(undefined)[0];
    const data = docsView({
      dialects: protocolEndpoints(this.adapters.dialects),
      models: group === undefined ? [] : this.offer.modelsOf(group.name),
      base: this.address.current(),
      maxBodyBytes: this.config.maxBodyBytes,
    });
    return new Page('home/docs', { title: 'Docs', data });
  }

  @Get('openapi.json')
  openApi(): object {
    return openApiDocument(this.address.current(), pathsFor(protocolEndpoints(this.adapters.dialects)));
  }
}
