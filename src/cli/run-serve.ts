/** Implements `serve`: runs a host until a signal. */
import { messageOf } from '#kernel'
import { compactHeap, type Config, type DemoRequest, type Given, keepHeapSteady, readConfig } from '#host/spi'
import { type RunningHost, SERVICES, startHost, STOP_PATIENCE } from '#host/running'
import { readPlugs } from '#host/load-plugs'
import type { Terminal } from './terminal.ts'

/** ms from the signal to the end of the process, even if the shutdown stalls */
const LAST_CALL = STOP_PATIENCE + 3_500

/** Serves until a signal. Throws `USAGE`, `NOT_FOUND`, `PLUG`, `LISTEN` or `STORE` if the host cannot start. */
export async function runServe(flags: Given, terminal: Terminal): Promise<0 | 1> {
  keepHeapSteady()
  const config = readConfig(flags, process.env, [...SERVICES.keys()])
  let left = (): string => 'the host was still starting'
  const stopped = stopSignal().then(() => lastCall(terminal, () => left()))
  let read = await readPlugs(config.plugs)
  const making = { plugs: () => read.plugs, plugModules: () => read.modules, started: compactHeap }
  const host = await startHost(config, { write: (line) => terminal.err(line) }, making)
  left = host.left
  if (config.plugs.length > 0) {
    onHangUp(async () => {
      try {
        read = await readPlugs(config.plugs)
        host.app.log.info({ plugs: read.plugs.map(({ name, version }) => `${name} ${version}`) }, 'plugs reloaded')
      } catch (error) {
        host.app.log.error(`plugs could not be reloaded and stay unchanged: ${messageOf(error)}`)
      }
    })
  }
  const also = host.also.map((one) => `also on ${one}`)
  const lines = [
    `reflexarc listening on ${host.url}`,
    ...also,
    `log in (this link works once, for 15 minutes): ${host.signIn}`,
    ...(host.first.origin === 'found' ? [`lost the secret? create another key: ${anotherKey(config, host.url)}`] : []),
    curlLine(host, { path: host.example }),
    ...demoLines(host),
  ]
  terminal.out(`${lines.join('\n')}\n`)
  const late = await stopped
  await host.stop()
  clearTimeout(late)
  // Ends the process even if something still keeps it alive.
  setTimeout(() => process.exit(0), 200).unref()
  return 0
}

/** Runs `work` on each hang-up, one run at a time: the last one determines the result. */
function onHangUp(work: () => Promise<void>): void {
  let before = Promise.resolve()
  process.on('SIGHUP', () => {
    before = before.then(work)
  })
}

/** Ends the process even if the shutdown or the start stalls. */
function lastCall(terminal: Terminal, left: () => string): NodeJS.Timeout {
  const late = setTimeout(() => {
    terminal.err(`error: unfinished at the end of the shutdown time: ${left()}\n`)
    process.exit(1)
  }, LAST_CALL)
  return late.unref()
}

/** A command that makes a key while the host runs, with the key of tokens in the data folder. */
function anotherKey({ data }: Config, url: string): string {
  return `reflexarc keys add --scope admin --data ${quoted(data)} --url ${url}`
}

/** Formats a curl command: complete for a new key pair; otherwise curl prompts for the secret. */
function curlLine({ url, first }: RunningHost, { path, body }: DemoRequest): string {
  const user = first.origin === 'made' ? `${first.pair.key}:${first.pair.secret}` : first.key
  const sent = body === undefined ? '' : ` -H 'content-type: application/json' -d ${quoted(JSON.stringify(body))}`
  return `curl -u ${quoted(user)} ${quoted(url + path)}${sent}`
}

function demoLines(host: RunningHost): readonly string[] {
  const { demo } = host
  return demo === undefined ? [] : [`# ${demo.about}`, ...demo.requests.map((one) => curlLine(host, one))]
}

function quoted(text: string): string {
  return /^[\w./:-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
}

/** Resolves on the first signal; a second signal ends the process at once. */
function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.once(signal, () => {
        process.once(signal, () => process.exit(1))
        resolve()
      })
    }
  })
}
