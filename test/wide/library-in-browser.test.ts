/**
 * Tests the built library in a browser: bundled with common bundlers, and run in a page and in a Web Worker. One
 * browser shows all pages as frames of one page. Skipped without Chromium (Debian's package `chromium`).
 */
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { builtCode } from '../support/built-code.ts'
import { root } from '../support/repository.ts'
import { mustRun } from '../support/run-command.ts'
import { chromium, NO_CHROMIUM, openBrowser, type Browser } from './support/chromium.ts'
import { testFolder } from '../support/test-folder.ts'

/** A rule with only its own plugs: what a page needs if it loads no built-in plugs. */
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
/** The same with the built-in plugs, including a script, which needs the interpreter. */
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
/** Reports the result to the test's server, from a page or a worker. */
const tellAs = (name: string) => `
const tell = (body) => fetch('/said/${name}', { method: 'POST', body })
work().then(tell, (error) => tell('failed: ' + error + error.stack))`
const page = (script: string) => `<!doctype html><html><body>${script}</body></html>`

const project = testFolder()
let served: Server
let browser: Promise<Browser> | undefined
/** Results reported by pages, by page name */
const told = new Map<string, string>()
/** Why a page may never report anything */
let trouble: string | undefined

beforeAll(async () => {
  const installed = join(project, 'node_modules', 'reflexarc')
  cpSync(builtCode('.'), join(installed, 'dist'), { recursive: true })
  cpSync(join(root, 'package.json'), join(installed, 'package.json'))
  for (const name of ['rxjs', 'tslib']) {
    cpSync(join(root, 'node_modules', name), join(project, 'node_modules', name), { recursive: true })
  }
  write('package.json', JSON.stringify({ name: 'a-user', private: true, type: 'module' }))
  served = createServer((request, response) => {
    const name = decodeURIComponent(new URL(request.url ?? '', 'http://a').pathname).slice(1)
    if (request.method === 'POST') {
      let text = ''
      request.setEncoding('utf8').on('data', (part: string) => (text += part))
      request.on('end', () => {
        response.end()
        told.set(name.replace('said/', ''), text)
      })
      return
    }
    const path = join(project, name)
    if (!existsSync(path)) {
      // every browser requests the icon
      if (!path.endsWith('favicon.ico')) trouble = `there is no ${path}`
      return response.writeHead(404).end()
    }
    const type = extname(path) === '.html' ? 'text/html' : 'text/javascript'
    response.writeHead(200, { 'content-type': type }).end(readFileSync(path))
    return undefined
  })
  served.listen(0, '127.0.0.1')
  await once(served, 'listening')
})
afterAll(async () => {
  served.close()
  await (await browser)?.end()
})

const write = (name: string, text: string) => {
  mkdirSync(join(project, name, '..'), { recursive: true })
  writeFileSync(join(project, name), text)
}

/** Opens all pages at the same time. */
async function showAll(program: string): Promise<Browser> {
  const { port } = served.address() as AddressInfo
  write(
    'all.html',
    page(PAGES.map((name) => `<iframe src="${name.replace(/([^/]+)$/, 'out/$1.html')}"></iframe>`).join('')),
  )
  const opened = await openBrowser(program)
  void opened.gone.then(() => (trouble ??= 'the browser ended'))
  const shown = await opened.newPage()
  await shown.open(`http://127.0.0.1:${port}/all.html`)
  return opened
}

const BUNDLERS = {
  esbuild(name: string) {
    const tool = join(root, 'node_modules', 'esbuild', 'bin', 'esbuild')
    for (const script of ['page', 'worker']) {
      const options = ['--bundle', '--platform=browser', '--log-level=warning', `--outfile=${name}/out/${script}.js`]
      mustRun(tool, [`${name}/${script}.js`, ...options], project)
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
await build({ root: ${JSON.stringify(join(project, name))}, base: './', logLevel: 'warn', worker: { format: 'es' },
  build: { outDir: 'out', emptyOutDir: false, rolldownOptions: { input: ${JSON.stringify(join(project, name, `${html}.html`))} } } })
`
      write(`${name}/build-${html}.mjs`, build)
      mustRun(process.execPath, [`${name}/build-${html}.mjs`], project)
    }
  },
}

const CASES = {
  'own-plugs': { code: BARE, expected: '{"fired":["alarm"],"next":1}' },
  'all-plugs': { code: FULL, expected: '{"seen":[0,2,4]}' },
} as const
const BUNDLES = (['esbuild', 'vite'] as const).flatMap((bundler) =>
  (['own-plugs', 'all-plugs'] as const).map((plugs) => ({ bundler, plugs, name: `${bundler}-${plugs}` })),
)
const PAGES = BUNDLES.flatMap(({ name }) => [`${name}/page`, `${name}/worker`])

describe('the library, unchanged,', () => {
  it.each(BUNDLES)('is bundled by $bundler, with $plugs', ({ bundler, plugs, name }) => {
    write(`${name}/work.js`, CASES[plugs].code)
    for (const where of ['page', 'worker'])
      write(`${name}/${where}.js`, `import { work } from './work.js'\n${tellAs(`${name}/${where}`)}\n`)
    BUNDLERS[bundler](name)
    const built = readdirSync(join(project, name, 'out'))
    expect(built).toEqual(expect.arrayContaining(['page.html', 'worker.html']))
  })

  it.for(PAGES)('runs in a browser: %s', async (name, { skip }) => {
    if (chromium === undefined) return skip(NO_CHROMIUM)
    browser ??= showAll(chromium)
    await browser
    await expect.poll(() => told.get(name) ?? trouble).toBeDefined()
    expect(told.get(name) ?? trouble).toBe(CASES[name.includes('own-plugs') ? 'own-plugs' : 'all-plugs'].expected)
  })
})
