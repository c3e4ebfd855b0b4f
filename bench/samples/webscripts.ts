/** One sample: a webscript over HTTP beside a bare fastify route that answers the same, asked from another process. */
import { spawn, type ChildProcess } from 'node:child_process'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fastify } from 'fastify'
import { createClient, type Client } from '../../src/client.ts'
import { readConfig } from '../../src/host/config.ts'
import { startHost } from '../../src/host/running-host.ts'
import { SERVICES } from '../../src/host/wiring/service-table.ts'
import { cpuMsOf, processTree } from '../../src/platform/sandbox/process-tree.ts'
import { childrenOf } from './child-processes.ts'

export type WebscriptsSubject = 'bare' | 'node' | 'python' | 'node-paced' | 'cold' | 'stream'

export interface WebscriptsSample {
  readonly perSecond: number
  /** ms */
  readonly p50: number
  readonly p99: number
  /** us for each answer: of the host's process, and of those of the script; NaN where nothing is asked in a row */
  readonly hostCpu: number
  readonly scriptCpu: number
  /** bytes that the host's process has more than before, at most */
  readonly memory: number
}

const CONNECTIONS = 32
const MEASURE_MS = 4_000
/** half of what the webscript in Node reaches on two shared cores */
const PACED = 7_000
const STARTS = 10
/** of a host */
const PROCESSES = 16
const STREAM_BYTES = 100_000_000
const NO_CPU = { hostCpu: Number.NaN, scriptCpu: Number.NaN }

const NODE = `export default (req, res) => {
  if (req.path === '/stream') {
    let left = ${STREAM_BYTES}
    const piece = 'x'.repeat(65536)
    const more = () => { while (left > 0) { left -= piece.length; if (!res.write(piece)) return void res.once('drain', more) } res.end() }
    return more()
  }
  res.json({ hello: req.query.name })
}`
const PYTHON = `def execute(request, client):
    return {"hello": request.query_params["name"]}
`

export async function webscriptsSample(subject: WebscriptsSubject): Promise<WebscriptsSample> {
  if (subject === 'bare') return bare()
  const credentials = { key: 'bench', secret: 'bench' }
  const given = { store: 'memory:', port: 0, ...credentials, empty: true, logLevel: 'silent', rateLimit: 0 }
  const host = await startHost(readConfig(given, {}, [...SERVICES.keys()]), { write: () => undefined }, { hashCost: 2 })
  try {
    const client = createClient({ url: host.url, credentials })
    if (subject === 'cold') return await cold(host.url, client)
    await deployed(client, 'script', subject === 'python' ? 'python' : 'node')
    const path = '/api/v1/default/script'
    if (subject === 'stream') return await stream(`${host.url}${path}/stream`)
    return await asked(Number(new URL(host.url).port), path, subject === 'node-paced' ? PACED : 0)
  } finally {
    await host.stop()
  }
}

async function bare(): Promise<WebscriptsSample> {
  const app = fastify()
  app.get('/bare', (request) => ({ hello: (request.query as { name: string }).name }))
  await app.listen({ port: 0, host: '127.0.0.1' })
  try {
    return await asked((app.server.address() as AddressInfo).port, '/bare', 0)
  } finally {
    app.server.closeAllConnections()
    await app.close()
  }
}

async function asked(port: number, path: string, rate: number): Promise<WebscriptsSample> {
  const before = process.memoryUsage().rss
  const args = [String(port), `${path}?name=you`, String(CONNECTIONS), String(MEASURE_MS), String(rate)]
  const child = spawn(process.execPath, [join(import.meta.dirname, 'webscripts-client.ts'), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  child.stdout.setEncoding('utf8')
  let output = ''
  let cpu = { host: 0, script: 0 }
  for await (const part of child.stdout as AsyncIterable<string>) {
    // its first line is empty, and says that it begins to measure
    if (output === '') cpu = cpuOf(child)
    output += part
  }
  const { host, script } = cpuOf(child)
  const figures = JSON.parse(output) as Pick<WebscriptsSample, 'perSecond' | 'p50' | 'p99'>
  const answers = (figures.perSecond * MEASURE_MS) / 1_000
  return {
    ...figures,
    hostCpu: (host - cpu.host) / answers,
    scriptCpu: (script - cpu.script) / answers,
    memory: process.memoryUsage().rss - before,
  }
}

/** us */
function cpuOf({ pid: client }: ChildProcess): { readonly host: number; readonly script: number } {
  const { user, system } = process.cpuUsage()
  const scripts = childrenOf(process.pid).filter((pid) => pid !== client)
  return { host: user + system, script: scripts.reduce((sum, pid) => sum + cpuMsOf(processTree(pid)) * 1_000, 0) }
}

async function deployed(client: Client, name: string, language: 'node' | 'python'): Promise<void> {
  const manifest = {
    name,
    version: '1.0.0',
    runtime: language === 'node' ? 'web-node24' : 'web-python3',
    private: false,
  }
  const files = {
    'webscript.json': JSON.stringify(manifest),
    ...(language === 'node' ? { 'index.js': NODE, 'package.json': '{"type":"module"}' } : { 'main.py': PYTHON }),
  }
  const assets = new Map(Object.entries(files).map(([path, one]) => [path, new TextEncoder().encode(one)]))
  const { webscripts } = client.functions
  const { job } = await webscripts.create(assets)
  await webscripts.jobs.finished(job?.id ?? '')
  const { status, record } = await webscripts.get(name, '1.0.0')
  if (status !== 'running') throw new Error(`it is ${status}: ${JSON.stringify(record['failureReason'])}`)
}

/** More than have room for a process: those that were deployed first have none any more. */
async function cold(url: string, client: Client): Promise<WebscriptsSample> {
  for (let n = 0; n < STARTS + PROCESSES; n++) await deployed(client, `script${n}`, 'node')
  const times: number[] = []
  for (let n = 0; n < STARTS; n++) {
    const begin = performance.now()
    if ((await fetch(`${url}/api/v1/default/script${n}?name=you`)).status !== 200) throw new Error('it does not answer')
    times.push(performance.now() - begin)
    const { coldStarts } = await client.webscripts.metrics(`script${n}`)
    if (coldStarts !== 1) throw new Error(`script${n} had a process`)
  }
  const sorted = times.sort((a, b) => a - b)
  return { perSecond: 0, p50: sorted[STARTS / 2] ?? 0, p99: sorted.at(-1) ?? 0, ...NO_CPU, memory: 0 }
}

async function stream(url: string): Promise<WebscriptsSample> {
  const before = process.memoryUsage().rss
  const begin = performance.now()
  let memory = 0
  let bytes = 0
  // its reader is in this process too, and keeps nothing
  const { body } = await fetch(url)
  if (body === null) throw new Error('there is no body')
  for await (const piece of body as AsyncIterable<Uint8Array>) {
    bytes += piece.length
    memory = Math.max(memory, process.memoryUsage.rss() - before)
  }
  if (bytes < STREAM_BYTES) throw new Error(`only ${bytes} bytes came`)
  const ms = performance.now() - begin
  return { perSecond: (bytes * 1_000) / ms, p50: ms, p99: ms, ...NO_CPU, memory }
}
