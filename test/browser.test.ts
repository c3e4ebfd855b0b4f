/**
 * The packed library in a browser: bundled as it is by the bundlers that people use, run in a page and in a Web Worker.
 * It is skipped where no Chromium is installed (Debian's package `chromium`).
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { packLibrary, type PackedLibrary } from './support/packed-library.ts'
import { root } from './support/repository.ts'
import { mustRun } from './support/run-command.ts'

const chromium = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) =>
  existsSync(path),
)

/** A rule with own plugs alone: what a page needs that brings no built-in ones. */
const BARE = `
import { createEngine, definePlug, nextRuns } from 'reflexarc'

const above = definePlug({ name: 'above', version: '1.0.0', kind: 'sensor', states: ['Yes', 'No'], parameters: ['t'],
  execute: (context) => (Number(context.streamValue('t')) > 90 ? 'Yes' : 'No') })
const say = definePlug({ name: 'say', version: '1.0.0', kind: 'actuator', execute: () => ({ message: 'hot' }) })
export async function work() {
  const engine = createEngine({ plugs: [above, say] })
  const rule = {
    sensors: [{ label: 'hot', name: 'above', resource: '$' }],
    actuators: [{ label: 'alarm', name: 'say' }],
    triggers: [{ sourceLabel: 'hot', destinationLabel: 'alarm', statesTrigger: ['Yes'] }],
  }
  const fired = []
  engine.events$.subscribe((e) => e.type === 'fired' && fired.push(e.node))
  await engine.start(rule, { resource: 'boiler-1' })
  engine.receive({ resource: 'boiler-1', t: 95 })
  await engine.close()
  const runs = nextRuns('FREQ=DAILY;BYHOUR=6;BYMINUTE=0;BYSECOND=0', { from: 0, count: 1, zone: 'Europe/Brussels' })
  return JSON.stringify({ fired, next: runs.runs.length })
}
`
/** The same with the built-in plugs, a script among them, which needs the interpreter. */
const FULL = `
import { createEngine } from 'reflexarc'
import { builtins } from 'reflexarc/plugins'

export async function work() {
  const engine = createEngine({ plugs: builtins })
  const rule = {
    sensors: [{ label: 'script', name: 'script', resource: '$',
      properties: { script: 'const seen = []; for (let i = 0; i < 3; i++) seen.push(i * 2); return { seen }' } }],
  }
  const given = new Promise((resolve) => engine.events$.subscribe((e) => e.type === 'state' && resolve(engine.tasks)))
  const task = await engine.start(rule, { resource: 'boiler-1' })
  engine.receive({ resource: 'boiler-1', t: 95 })
  await given
  const data = JSON.stringify(task.node('script').rawData)
  await engine.close()
  return data
}
`
/** In a page as in a worker: what was done is told to the server of the test. */
const TELL = `
const tell = (body) => fetch('/said', { method: 'POST', body })
work().then(tell, (error) => tell('failed: ' + error + error.stack))`
const page = (script: string) => `<!doctype html><html><body>${script}</body></html>`

let library: PackedLibrary
let served: Server
/** who waits for what a page has to say */
let listener: (said: string) => void = () => undefined
beforeAll(async () => {
  library = packLibrary()
  served = createServer((request, response) => {
    if (request.method === 'POST') {
      let text = ''
      request.setEncoding('utf8').on('data', (part: string) => (text += part))
      request.on('end', () => {
        response.end()
        listener(text)
      })
      return
    }
    const path = join(library.project, decodeURIComponent(new URL(request.url ?? '', 'http://a').pathname))
    if (!existsSync(path)) {
      response.writeHead(404).end()
      // a page without its script would never say anything; the icon is asked for by every browser
      if (!path.endsWith('favicon.ico')) listener(`there is no ${path}`)
      return
    }
    const type = extname(path) === '.html' ? 'text/html' : 'text/javascript'
    response.writeHead(200, { 'content-type': type }).end(readFileSync(path))
  })
  served.listen(0, '127.0.0.1')
  await once(served, 'listening')
})
afterAll(() => {
  served.close()
  library.remove()
})

const write = (name: string, text: string) => {
  mkdirSync(join(library.project, name, '..'), { recursive: true })
  writeFileSync(join(library.project, name), text)
}

/** What a page of the project, or its worker, says when its work is done. */
async function said(path: string): Promise<string> {
  const { port } = served.address() as AddressInfo
  const profile = mkdtempSync(join(tmpdir(), 'reflexarc-chromium-'))
  const options = ['--headless', '--no-sandbox', '--disable-gpu', '--remote-debugging-port=0']
  const child = spawn(chromium ?? '', [...options, `--user-data-dir=${profile}`, `http://127.0.0.1:${port}/${path}`], {
    stdio: 'ignore',
  })
  const gone = once(child, 'close')
  try {
    const ended = gone.then(() => 'the browser ended')
    return await Promise.race([new Promise<string>((resolve) => (listener = resolve)), ended])
  } finally {
    child.kill('SIGKILL')
    await gone
    // its helpers may still be writing there
    rmSync(profile, { recursive: true, force: true, maxRetries: 20 })
  }
}

const BUNDLERS = {
  esbuild(name: string) {
    const tool = join(root, 'node_modules', 'esbuild', 'bin', 'esbuild')
    for (const script of ['page', 'worker']) {
      const options = ['--bundle', '--platform=browser', '--log-level=warning', `--outfile=${name}/out/${script}.js`]
      mustRun(tool, [`${name}/${script}.js`, ...options], library.project)
    }
    write(`${name}/out/page.html`, page('<script src="page.js"></script>'))
    write(`${name}/out/worker.html`, page(`<script>new Worker('worker.js')</script>`))
  },
  vite(name: string) {
    write(`${name}/page.html`, page('<script type="module" src="./page.js"></script>'))
    write(
      `${name}/worker.html`,
      page(`<script type="module">new Worker(new URL('./worker.js', import.meta.url), { type: 'module' })</script>`),
    )
    for (const html of ['page', 'worker']) {
      const build = `
import { build } from ${JSON.stringify(join(root, 'node_modules', 'vite', 'dist', 'node', 'index.js'))}
await build({ root: ${JSON.stringify(join(library.project, name))}, base: './', logLevel: 'warn', worker: { format: 'es' },
  build: { outDir: 'out', emptyOutDir: false, rolldownOptions: { input: ${JSON.stringify(join(library.project, name, `${html}.html`))} } } })
`
      write(`${name}/build-${html}.mjs`, build)
      mustRun(process.execPath, [`${name}/build-${html}.mjs`], library.project)
    }
  },
}

const CASES = [
  ['without built-in plugs', BARE, '{"fired":["alarm"],"next":1}'],
  ['with all of them', FULL, '{"seen":[0,2,4]}'],
] as const

describe.each(['esbuild', 'vite'] as const)('bundled by %s, unchanged, the library', (bundler) => {
  describe.each(CASES)('%s', (what, code, expected) => {
    const name = `${bundler}-${what.replaceAll(' ', '-')}`

    it('builds', () => {
      write(`${name}/work.js`, code)
      for (const where of ['page', 'worker'])
        write(`${name}/${where}.js`, `import { work } from './work.js'\n${TELL}\n`)
      BUNDLERS[bundler](name)
      const built = readdirSync(join(library.project, name, 'out'))
      expect(built).toEqual(expect.arrayContaining(['page.html', 'worker.html']))
    })

    it.for(['page', 'worker'])('runs in a %s', async (where, { skip }) => {
      if (chromium === undefined) skip('no Chromium is installed; Debian has it as chromium')
      expect(await said(`${name}/out/${where}.html`)).toBe(expected)
    })
  })
})
