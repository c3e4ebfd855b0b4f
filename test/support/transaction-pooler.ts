/** Implements a minimal pooler that lends connections per transaction, as PgBouncer does in that mode. */
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import type { PostgresServer } from './start-postgres.ts'

/** Splits protocol messages: a letter, a length and a body. */
class Messages {
  #rest = Buffer.alloc(0)

  /** Returns the letters of the messages now complete, each with its first byte. */
  add(bytes: Buffer): readonly (readonly [letter: string, first: string])[] {
    this.#rest = Buffer.concat([this.#rest, bytes])
    const whole: (readonly [string, string])[] = []
    while (this.#rest.length >= 5) {
      const length = this.#rest.readUInt32BE(1) + 1
      if (this.#rest.length < length) break
      whole.push([String.fromCharCode(this.#rest[0] ?? 0), String.fromCharCode(this.#rest[5] ?? 0)])
      this.#rest = this.#rest.subarray(length)
    }
    return whole
  }
}

interface Lent {
  readonly socket: Socket
  readonly messages: Messages
  /** the client that uses the connection, and the number of outstanding responses */
  client: Socket | undefined
  awaited: number
}

/** What a server sends to a new client: authenticated and ready. */
const WELCOME = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0, 0x5a, 0, 0, 0, 5, 0x49])

export async function transactionPooler(server: PostgresServer): Promise<{ readonly url: string; close(): void }> {
  const folder = new URL(server.url).searchParams.get('host') ?? ''
  const all = new Set<Socket>()
  const free: Lent[] = []
  let startup: Buffer = Buffer.alloc(0)

  const open = async (): Promise<Lent> => {
    const socket = connect(join(folder, '.s.PGSQL.5432'))
    all.add(socket)
    socket.on('error', () => undefined)
    const lent: Lent = { socket, messages: new Messages(), client: undefined, awaited: 1 }
    socket.write(startup)
    await new Promise<void>((resolve) => {
      socket.on('data', (bytes: Buffer) => {
        lent.client?.write(bytes)
        for (const [letter, status] of lent.messages.add(bytes)) {
          if (letter !== 'Z') continue
          lent.awaited -= 1
          if (lent.client === undefined) resolve()
          else if (lent.awaited === 0 && status === 'I') {
            lent.client = undefined
            free.push(lent)
          }
        }
      })
    })
    return lent
  }

  const serve = (client: Socket): void => {
    all.add(client)
    client.on('error', () => undefined)
    const messages = new Messages()
    let last: Promise<void> = Promise.resolve()
    let mine: Lent | undefined
    const take = async (bytes: Buffer): Promise<void> => {
      if (mine?.client !== client) {
        mine = free.pop() ?? (await open())
        mine.client = client
      }
      for (const [letter] of messages.add(bytes)) if (letter === 'Q' || letter === 'S') mine.awaited += 1
      mine.socket.write(bytes)
    }
    client.once('data', (first: Buffer) => {
      startup = first
      client.write(WELCOME)
      client.on('data', (bytes: Buffer) => {
        last = last.then(() => take(bytes))
      })
    })
  }
  const listener = createServer(serve)
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const address = listener.address()
  return {
    url: `postgresql://tester@127.0.0.1:${typeof address === 'object' ? address?.port : ''}/postgres`,
    close() {
      listener.close()
      for (const socket of all) socket.destroy()
    },
  }
}
