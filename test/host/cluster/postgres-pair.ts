/**
 * Runs a PostgreSQL with a synchronous standby on this machine, behind one port, that can fail over without losing what
 * it acknowledged.
 */
import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { Client } from 'pg'
import { startPostgres, type PostgresServer } from '../../support/start-postgres.ts'

export class PostgresPair {
  readonly #binaries: string
  readonly #open = new Set<Socket>()
  readonly #listener = createServer((client) => this.#lead(client))
  #primary: PostgresServer
  #standby: PostgresServer | undefined
  readonly #ways: Server[] = []

  private constructor(binaries: string, primary: PostgresServer) {
    this.#binaries = binaries
    this.#primary = primary
  }

  static async start(binaries: string): Promise<PostgresPair> {
    const pair = new PostgresPair(binaries, await startPostgres(binaries))
    pair.#listener.listen(0, '127.0.0.1')
    await once(pair.#listener, 'listening')
    await pair.#addStandby()
    return pair
  }

  get url(): string {
    const address = this.#listener.address()
    return `postgresql://tester@127.0.0.1:${typeof address === 'object' ? address?.port : ''}/postgres`
  }

  /** Opens another address for the database; `cut` interrupts it like a network failure, until `mend`. */
  async way(): Promise<{ readonly url: string; cut(): void; mend(): void; close(): void }> {
    const open = new Set<Socket>()
    let isCut = false
    const server = createServer((client) => {
      if (isCut) return void client.destroy()
      open.add(client)
      client.once('close', () => open.delete(client))
      this.#lead(client)
    })
    this.#ways.push(server)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    return {
      url: `postgresql://tester@127.0.0.1:${typeof address === 'object' ? address?.port : ''}/postgres`,
      cut() {
        isCut = true
        for (const one of open) one.destroy()
      },
      mend: () => void (isCut = false),
      close: () => void server.close(),
    }
  }

  /** Stops the primary at once; the standby replaces it, and gets its own standby. */
  async failOver(): Promise<void> {
    const standby = this.#standby
    if (standby === undefined) throw new Error('there is no standby')
    const before = this.#primary
    await before.crash()
    for (const one of this.#open) one.destroy()
    await withClient(standby, (client) => client.query('select pg_promote(true, 60)'))
    this.#primary = standby
    this.#standby = undefined
    await before.stop()
    await this.#addStandby()
  }

  /** Crashes the primary and restarts it with its data. */
  async fall(): Promise<void> {
    await this.#primary.crash()
    await this.#primary.start()
  }

  async stop(): Promise<void> {
    for (const one of [this.#listener, ...this.#ways]) one.close()
    for (const one of this.#open) one.destroy()
    await this.#standby?.stop()
    await this.#primary.stop()
  }

  /** Adds a standby. Afterwards, commits complete only when the standby has them. */
  async #addStandby(): Promise<void> {
    const primary = this.#primary
    // the copied settings must not make commits wait for a standby that is missing
    await withClient(primary, async (client) => {
      await client.query(`alter system set synchronous_standby_names = ''`)
      await client.query('select pg_reload_conf()')
    })
    this.#standby = await startPostgres(this.#binaries, primary)
    await withClient(primary, async (client) => {
      await client.query(`alter system set synchronous_standby_names = '*'`)
      await client.query('select pg_reload_conf()')
      for (;;) {
        const { rowCount } = await client.query(`select from pg_stat_replication where sync_state = 'sync'`)
        if (rowCount === 1) return
      }
    })
  }

  #lead(client: Socket): void {
    const folder = new URL(this.#primary.url).searchParams.get('host') ?? ''
    const upstream = connect(join(folder, '.s.PGSQL.5432'))
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      this.#open.add(one)
      one.on('error', () => undefined)
      one.once('close', () => {
        this.#open.delete(one)
        other.destroy()
      })
      one.pipe(other)
    }
  }
}

async function withClient<R>(server: PostgresServer, work: (client: Client) => Promise<R>): Promise<R> {
  const client = new Client({ connectionString: server.url })
  client.on('error', () => undefined)
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}
