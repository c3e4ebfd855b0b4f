/** Tests functions through the client, which other programs and the command line use. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Client } from '../../src/client.ts'
import { followChange } from '../../src/cli/functions/deploy-folder.ts'
import { plain, type Terminal } from '../../src/cli/terminal.ts'
import { readArchive } from '../../src/services/functions/registry/archive.ts'
import { RUNTIMES } from '../../src/services/functions/runtimes/catalog.ts'
import { listeningHost, type ListeningHost } from './listening-host.ts'
import { basic } from './sample-host.ts'

let host: ListeningHost
let client: Client
beforeAll(async () => {
  host = await listeningHost()
  client = host.client
})
afterAll(() => host.stop())

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const example = new Map([...(RUNTIMES.get('plug-node24')?.example ?? [])].map(([path, text]) => [path, bytes(text)]))

describe('functions by the client', () => {
  it('are uploaded, followed until they run, read, and removed', async () => {
    const { plugs } = client.functions
    const created = await plugs.create(example)
    expect(created).toMatchObject({ isDone: false, entity: { name: 'tooWarm', version: '1.0.0', status: 'pending' } })
    const { id = '', type = 'verify' } = created.job ?? {}
    const over = new AbortController()
    const events: string[] = []
    for await (const { event } of plugs.jobs.events({ id, type, children: true, signal: over.signal })) {
      events.push(event)
    }
    expect([events[0], events.at(-1)]).toEqual(['ack', 'close'])
    await plugs.jobs.finished(id)
    const screen: string[] = []
    const terminal = { err: (text) => void screen.push(text), paint: plain, errIsTerminal: false } as Terminal
    expect(await followChange(plugs, created, terminal)).toMatchObject({ buildLog: ['it has no dependencies'] })
    expect(screen.join('')).toMatch(/^build +done in .*\n +it has no dependencies\ndeploy +done.*\nverify +done.*\n$/)
    expect(await plugs.get('tooWarm', '1.0.0')).toMatchObject({ status: 'running', draft: false })
    expect(await plugs.jobs.get('verify', id)).toMatchObject({
      type: 'verify',
      operation: 'create',
      function: { name: 'tooWarm' },
      job: { id, state: 'completed', result: { healthy: true } },
    })
    const jobs = await plugs.jobs.list({ name: 'tooWarm', version: '1.0.0' })
    expect(jobs.map(({ type: one }) => one).toSorted()).toEqual(['build', 'deploy', 'verify'])

    const { key, secret } = host.credentials
    const headers = { authorization: basic(key, secret), accept: 'text/html,*/*;q=0.8' }
    for (const path of ['tooWarm/versions/1.0.0', 'tooWarm']) {
      const page = await fetch(`${host.url}/registry/v2/plugs/${path}`, { headers })
      expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
      expect(await page.text()).toContain('<h1>tooWarm 1.0.0</h1>')
    }

    const assets = await plugs.assets('tooWarm', '1.0.0')
    expect(assets.map(({ path }) => path)).toEqual(['index.js', 'package.json', 'plug.json'])
    expect(await plugs.asset('tooWarm', '1.0.0', 'index.js')).toEqual(example.get('index.js'))
    const archive = await readArchive(await plugs.content('tooWarm', '1.0.0'))
    expect([...archive.keys()]).toEqual(assets.map(({ path }) => path))

    await client.rules.tools.call('sensors', 'tooWarm', '1.0.0', { properties: { value: 30 } })
    expect(await plugs.log('tooWarm', '1.0.0')).toMatchObject([{ level: 'debug', text: '30 against 25' }])
    expect(await plugs.remove('tooWarm', '1.0.0')).toEqual({
      message: "Deprecated plug version 'tooWarm@1.0.0'",
      versions: ['1.0.0'],
    })
    const removal = await plugs.remove('tooWarm', undefined, { force: true })
    await plugs.jobs.finished(removal.job?.id ?? '')
    await expect(plugs.get('tooWarm', '1.0.0')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  it('are listed with what belongs to them', async () => {
    const { plugs } = client.functions
    await plugs.create(example, { deploy: false })
    await plugs.create(example, { deploy: false, draft: true, version: '^2' })
    const { entities, count } = await plugs.list({ name: 'too*' })
    expect(count).toBe(1)
    expect(entities).toMatchObject([
      { name: 'tooWarm', version: '1.0.0', showRelated: 'link', related: { draft: { version: '2.0.0', draft: true } } },
    ])
    expect(await plugs.list({ createdBefore: 1_000 })).toMatchObject({ count: 0 })
    const embedded = await plugs.list({ showRelated: 'embed' })
    expect(embedded.entities[0]?.related?.draft).toMatchObject({ status: 'registered', record: { revision: {} } })
    const versions = await plugs.list({ exactName: 'tooWarm' })
    expect(versions.entities.map(({ version }) => version)).toEqual(['2.0.0', '1.0.0'])
    expect(await plugs.latest('tooWarm', { includeDraft: true })).toMatchObject({ version: '2.0.0' })
  })

  it('are changed while they are drafts', async () => {
    const { plugs } = client.functions
    await plugs.putAssets('tooWarm', '2.0.0', new Map([['lib/more.js', bytes('export {}')]]), { deploy: false })
    const code = RUNTIMES.get('plug-node24')?.example.get('index.js')?.replace('1.0.0', '2.0.0') ?? ''
    await plugs.putAssets('tooWarm', '2.0.0', new Map([['index.js', bytes(code)]]), { deploy: false })
    expect(await plugs.asset('tooWarm', '2.0.0', 'lib/more.js')).toEqual(bytes('export {}'))
    await plugs.removeAsset('tooWarm', '2.0.0', 'lib/more.js', { deploy: false })
    const published = await plugs.publish('tooWarm', '2.0.0')
    await plugs.jobs.finished(published.job?.id ?? '')
    const verified = await plugs.verify('tooWarm', '2.0.0')
    await plugs.jobs.finished(verified.job?.id ?? '')
    const rebuilt = await plugs.rebuild('tooWarm', '2.0.0', { comment: 'once more', ignoreChecks: true })
    await plugs.jobs.finished(rebuilt.job?.id ?? '')
    expect(await plugs.get('tooWarm', '2.0.0')).toMatchObject({ draft: false, status: 'running' })
  })
})
