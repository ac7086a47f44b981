import { Controller, Get, Param, Query } from '@nestjs/common';
import { Offer } from '../../../catalog/index.js';
import { BaseAddress, Config } from '../../../platform/config/index.js';
import { AppError } from '../../../platform/shared/index.js';
import { AdapterRegistry } from '../../../relay/index.js';
import { Public } from '../../access/index.js';
import { Page, ViewEngine } from '../../web/index.js';
import { protocolEndpoints } from '../endpoints.js';
import { docsView, type DocsView } from './docs.view.js';
import { openApiDocument, pathsFor } from './openapi/index.js';
import { DocsSearch } from './search.js';

/** Longer queries are cut. */
const MAX_QUERY = 100;

@Controller('docs')
@Public()
export class DocsController {
  private readonly search: DocsSearch;

  constructor(
    private readonly adapters: AdapterRegistry,
    private readonly address: BaseAddress,
    private readonly config: Config,
    private readonly offer: Offer,
    views: ViewEngine,
  ) {
    this.search = new DocsSearch(views);
  }

  @Get()
  first(@Query('q') query?: unknown): Page {
    const text = typeof query === 'string' ? query.trim().slice(0, MAX_QUERY) : '';
    return text === '' ? this.topic('') : this.results(text);
  }

  @Get('openapi.json')
  openApi(): object {
    return openApiDocument(this.address.current(), pathsFor(this.protocols()));
  }

  /** @throws AppError if there is no such page */
  @Get(':name')
  topic(@Param('name') name: string): Page {
    const view = this.view();
    const at = view.topics.findIndex((topic) => topic.name === name);
    const topic = view.topics[at];
    if (topic === undefined) throw new AppError('not_found', 'There is no page at this address.');
    const data = { ...view, topic, next: view.topics[at + 1], index: indexOf(view, name) };
    const title = name === '' ? 'Docs' : `${topic.title} · Docs`;
    return new Page(topic.view, { title, description: topic.text, data });
  }

  private results(query: string): Page {
    const view = this.view();
    const data = { query, results: this.search.find(view, query), index: indexOf(view) };
    return new Page('docs/results', { title: `“${query}” · Docs`, data });
  }

  private view(): DocsView {
    const group = this.offer.groupsFor(undefined)[0];
    return docsView({
      protocols: this.protocols(),
      models: group === undefined ? [] : this.offer.modelsOf(group.name),
      base: this.address.current(),
      maxBodyBytes: this.config.maxBodyBytes,
    });
  }

  private protocols() {
    return protocolEndpoints(this.adapters.clientAdapters);
  }
}

/** Links to all pages, by group. */
const indexOf = ({ topics }: DocsView, current?: string) =>
  [...new Set(topics.map(({ group }) => group))].map((group) => ({
    title: group,
    links: topics
      .filter((topic) => topic.group === group)
      .map(({ name, title, href }) => ({ title, href, isCurrent: name === current })),
  }));
