/** Runs tests that need their own PostgreSQL server, with a connection that can be cut. */
import { createServer, connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { describe, it } from 'vitest'
import { OLDEST_MAJOR, postgresBinaries, startPostgres, type PostgresServer } from './start-postgres.ts'

export type { PostgresServer } from './start-postgres.ts'

/** A connection to the server that can be cut. */
export interface CuttableWay {
  readonly url: string
  /** Drops all connections; refuses new ones until `mend`. */
  cut(): void
  mend(): void
  /** Drops all connections on the client's side only, so the server believes they still exist. Accepts new ones. */
  strand(): void
  /** returns what the server has since sent over those connections */
  saidToStranded(): string
  /** Calls back with each chunk from a client before forwarding it; true cuts the connection instead. */
  watch(spy: ((bytes: Buffer) => boolean) | undefined): void
  /** Withholds the server's responses, which the next `cut` discards. */
  muffle(): void
  close(): Promise<void>
}

/** Runs tests that need a server. Where none is installed, skips them with a clear message on stderr. */
export function describeWithPostgres(title: string, define: (start: () => Promise<PostgresServer>) => void): void {
  const binaries = postgresBinaries()
  describe(title, () => {
    if (binaries !== undefined) return define(() => startPostgres(binaries))
    const reason = `PostgreSQL ${OLDEST_MAJOR} or later (initdb) is not installed: apt-get install -y --no-install-recommends postgresql`
    process.stderr.write(`\n*** NOT TESTED: ${title}. ${reason}\n\n`)
    // oxlint-disable-next-line vitest/expect-expect -- it only reports why the others are skipped
    it('needs PostgreSQL', ({ skip }) => {
      skip(reason)
    })
  })
}

/** Opens a loopback port that forwards to the server's socket file. */
export async function cuttableWay(server: PostgresServer): Promise<CuttableWay> {
  const folder = new URL(server.url).searchParams.get('host') ?? ''
  const open = new Set<Socket>()
  const ways = new Map<Socket, Socket>()
  const stranded: Socket[] = []
  let saidToStranded = ''
  let down = false
  let muffled = false
  let spy: ((bytes: Buffer) => boolean) | undefined
  const cut = (): void => {
    down = true
    for (const socket of open) socket.destroy()
    open.clear()
  }
  const listener = createServer((client) => {
    if (down) return void client.destroy()
    const upstream = connect(join(folder, '.s.PGSQL.5432'))
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      open.add(one)
      one.on('error', () => other.destroy())
      one.on('close', () => {
        open.delete(one)
        if (!stranded.includes(other)) other.destroy()
      })
    }
    ways.set(client, upstream)
    client.on('data', (bytes: Buffer) => {
      if (spy?.(bytes) === true) cut()
      else upstream.write(bytes)
    })
    upstream.on('data', (bytes: Buffer) => {
      if (stranded.includes(upstream)) saidToStranded += bytes.toString('latin1')
      else if (!muffled) client.write(bytes)
    })
  })
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  const address = listener.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return {
    url: `postgresql://tester@127.0.0.1:${address.port}/postgres`,
    cut,
    mend: () => {
      down = false
      muffled = false
    },
    strand: () => {
      for (const [client, upstream] of ways) {
        if (!open.has(client)) continue
        stranded.push(upstream)
        client.destroy()
      }
    },
    saidToStranded: () => saidToStranded,
    watch: (next) => {
      spy = next
    },
    muffle: () => {
      muffled = true
    },
    close: async () => {
      cut()
      for (const socket of stranded) socket.destroy()
      await new Promise((resolve) => listener.close(resolve))
    },
  }
}
