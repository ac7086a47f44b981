import pg from 'pg';

/** Takes one database away from everyone who is connected to it, and gives it back. */
export class DatabaseOutage {
  static async of(databaseUrl: string): Promise<DatabaseOutage> {
    const url = new URL(databaseUrl);
    const name = url.pathname.slice(1);
    url.pathname = '/postgres';
    const server = new pg.Client({ connectionString: url.href });
    await server.connect();
    return new DatabaseOutage(server, name);
  }

  private constructor(
    private readonly server: pg.Client,
    private readonly name: string,
  ) {}

  async begin(): Promise<void> {
    await this.server.query(`ALTER DATABASE ${this.name} ALLOW_CONNECTIONS false`);
    await this.server.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [this.name]);
  }

  async end(): Promise<void> {
    await this.server.query(`ALTER DATABASE ${this.name} ALLOW_CONNECTIONS true`);
  }

  close(): Promise<void> {
    return this.server.end();
  }
}
