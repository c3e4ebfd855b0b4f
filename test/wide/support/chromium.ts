/** Drives a Chromium without a window over its DevTools protocol. Debian's package `chromium` contains the program. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { WebSocket } from 'ws'

/** Path of the program; undefined if none is installed. */
export const chromium = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) =>
  existsSync(path),
)
export const NO_CHROMIUM = 'no Chromium is installed; Debian has it as chromium'

const FLAGS = ['--headless', '--no-sandbox', '--disable-gpu', '--remote-debugging-port=0']

interface Message {
  readonly id?: number
  readonly method?: string
  readonly params?: Readonly<Record<string, unknown>>
  readonly sessionId?: string
  readonly result?: Readonly<Record<string, unknown>>
  readonly error?: { readonly message: string }
}

export interface Page {
  /** Resolves when the page and everything in it have loaded. */
  open(url: string): Promise<void>
  /** Evaluates an expression in the page and waits for its promise; rejects with the error thrown. */
  evaluate(expression: string): Promise<unknown>
}

export interface Browser {
  /** Resolves when the process has ended. */
  readonly gone: Promise<void>
  newPage(): Promise<Page>
  end(): Promise<void>
}

export async function openBrowser(program: string, flags: readonly string[] = []): Promise<Browser> {
  const profile = mkdtempSync(join(tmpdir(), 'reflexarc-chromium-'))
  const child = spawn(program, [...FLAGS, ...flags, `--user-data-dir=${profile}`, 'about:blank'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const gone = once(child, 'close').then(() => undefined)
  const end = async (): Promise<void> => {
    child.kill('SIGKILL')
    await gone
    // helper processes may still be writing there
    rmSync(profile, { recursive: true, force: true, maxRetries: 20 })
  }
  const address = await addressIn(child.stderr)
  if (address === undefined) {
    await end()
    throw new Error(`${program} ended before it listened`)
  }
  // further output must not fill the pipe
  child.stderr.resume()
  const tools = await Tools.at(address)
  return { gone, newPage: () => newPage(tools), end }
}

async function addressIn(input: Readable): Promise<string | undefined> {
  for await (const line of createInterface({ input })) {
    const [, address] = /^DevTools listening on (ws:\S+)$/.exec(line) ?? []
    if (address !== undefined) return address
  }
  return undefined
}

async function newPage(tools: Tools): Promise<Page> {
  const { targetId } = await tools.send('Target.createTarget', { url: 'about:blank' })
  const { sessionId } = await tools.send('Target.attachToTarget', { targetId, flatten: true })
  const send = (method: string, params = {}) => tools.send(method, params, String(sessionId))
  await send('Page.enable')
  return {
    async open(url) {
      const loaded = tools.heard('Page.loadEventFired', String(sessionId))
      const { errorText } = await send('Page.navigate', { url })
      if (errorText !== undefined) throw new Error(`${url}: ${JSON.stringify(errorText)}`)
      await loaded
    },
    async evaluate(expression) {
      const { result, exceptionDetails } = await send('Runtime.evaluate', {
        expression,
        awaitPromise: true,
        returnByValue: true,
      })
      if (exceptionDetails !== undefined) throw new Error(JSON.stringify(exceptionDetails))
      return (result as { readonly value?: unknown }).value
    },
  }
}

/** Sends commands to the browser and its pages, and receives the results. */
class Tools {
  readonly #socket: WebSocket
  readonly #waiting = new Map<number, (message: Message) => void>()
  readonly #listeners = new Map<string, () => void>()
  #last = 0

  private constructor(socket: WebSocket) {
    this.#socket = socket
    socket.on('message', (data: Buffer) => this.#take(JSON.parse(data.toString()) as Message))
  }

  static async at(address: string): Promise<Tools> {
    const socket = new WebSocket(address)
    await once(socket, 'open')
    return new Tools(socket)
  }

  send(method: string, params: object, sessionId?: string): Promise<Readonly<Record<string, unknown>>> {
    const id = ++this.#last
    this.#socket.send(JSON.stringify({ id, method, params, ...(sessionId !== undefined && { sessionId }) }))
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, ({ result = {}, error }) => {
        if (error === undefined) resolve(result)
        else reject(new Error(`${method}: ${error.message}`))
      })
    })
  }

  /** Resolves at the session's next event with that name. */
  heard(method: string, sessionId: string): Promise<void> {
    return new Promise((resolve) => this.#listeners.set(`${sessionId} ${method}`, resolve))
  }

  #take(message: Message): void {
    const { id, method, sessionId } = message
    if (id !== undefined) {
      this.#waiting.get(id)?.(message)
      this.#waiting.delete(id)
      return
    }
    const name = `${sessionId} ${method}`
    this.#listeners.get(name)?.()
    this.#listeners.delete(name)
  }
}
