/** Tests the registry of functions over HTTP: each endpoint, and the lifecycle of versions, tags and drafts. */
import type { InjectOptions } from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readArchive } from '../../src/services/functions/registry/archive.ts'
import { type Files, manifestOf, nodePlug, PLUGS, tarOf } from './function-host.ts'
import { wholeHost, type Body, type WholeHost } from './whole-host.ts'

type Method = InjectOptions['method']
const REGISTRY = '/registry/v2'

const MODEL: Files = {
  'model.json': JSON.stringify({ name: 'boilers', version: '1.0.0', runtime: 'byoml-sklearn' }),
  'model.joblib': '-',
}

let host: WholeHost
beforeAll(async () => {
  host = await wholeHost()
})
afterAll(() => host[Symbol.asyncDispose]())

/** Registers a plug without building it. */
async function registered(name: string, version = '1.0.0', query = '', more: object = {}, key = 'acme'): Promise<Body> {
  const files = { ...nodePlug(version), 'plug.json': manifestOf({ name, version, ...more }) }
  const created = await host.ask('POST', `${PLUGS}?deploy=false${query}`, await tarOf(files), key)
  expect(created.body['error']).toBeUndefined()
  return created.body
}

const versionOf = (name: string, version = '1.0.0'): string => `${PLUGS}/${name}/versions/${version}`
const plugIn = (body: Body): Body => (body['entity'] as Body)['plug'] as Body

it('responds to a creation as recorded', async () => {
  const { status, body } = await host.ask(
    'POST',
    `${PLUGS}/?draft=true`,
    await tarOf({ ...nodePlug('1.0.1'), 'plug.json': manifestOf({ name: 'recorded', version: '1.0.1' }) }),
  )
  const id = expect.stringMatching(/^acme\$[\w-]{21}$/) as string
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string
  const entity = body['entity'] as { updates: { jobs: string[] }[] }
  const [verify = ''] = entity.updates[0]?.jobs ?? []
  const escaped = encodeURIComponent(verify)
  expect([status, body]).toEqual([
    202,
    {
      message: "Building and deploying plug 'recorded@1.0.1'",
      _links: {
        event: { href: `http://localhost:80${REGISTRY}/jobs/events?type=verify&id=${escaped}&children=true` },
        job: { href: `http://localhost:80${REGISTRY}/jobs/verify/${escaped}`, jobType: 'verify' },
      },
      entity: {
        status: 'pending',
        draft: true,
        deprecated: false,
        revision: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
        runtime: { name: 'plug-node24', version: '1.0.0', deprecated: false, upgradable: false },
        plug: {
          name: 'recorded',
          version: '1.0.1',
          type: 'sensor',
          runtime: 'plug-node24',
          interface: { states: ['Warm', 'Cold'], input: [{ name: 'value', dataType: 'double', mandatory: true }] },
          metadata: {},
          tags: [],
        },
        invocation: { auth: 'none', taskContext: true, nodeContext: true, rawDataContext: true, callback: false },
        updates: [{ operation: 'create', at: time, by: 'acme', comment: '', jobs: [id, id, id] }],
        createdBy: 'acme',
        createdAt: time,
        updatedBy: 'acme',
        updatedAt: time,
      },
    },
  ])
  const types: unknown[] = []
  for (const type of ['verify', 'deploy', 'build'] as const) {
    const job = entity.updates[0]?.jobs[types.length] ?? ''
    types.push((await host.ask('GET', `${REGISTRY}/jobs/${type}/${job}`)).status)
  }
  expect(types).toEqual([200, 200, 200])
})

describe('tags', () => {
  it('are shown inline, embedded, or as names', async () => {
    await registered('tagged', '1.0.0', '', {
      tags: ['cellar', { name: 'heat', color: '#112233' }],
      metadata: { tags: ['old'] },
    })
    const names = ['cellar', 'heat', 'old']
    const shown = async (showTags: string) => (await host.ask('GET', `${versionOf('tagged')}${showTags}`)).body
    const inline = plugIn(await shown(''))
    expect(inline['tags']).toMatchObject([{ name: 'cellar' }, { name: 'heat', color: '#112233' }, { name: 'old' }])
    expect(inline['metadata']).toEqual({ tags: inline['tags'] })
    expect(plugIn(await shown('?showTags=inline'))).toEqual(inline)
    expect(plugIn(await shown('?showTags=none'))['tags']).toEqual(names)
    const embedded = await shown('?showTags=embed')
    expect([plugIn(embedded)['tags'], embedded['_embedded']]).toEqual([names, { tags: inline['tags'] }])
    const list = await host.ask('GET', `${PLUGS}?name=tagged&showTags=embed&status=any`)
    expect(list.body['_embedded']).toEqual({ tags: inline['tags'] })
  })

  it('of a name are those of all its versions, or of any', async () => {
    await registered('shared', '1.0.0', '', { tags: ['a', 'b'] })
    await registered('shared', '1.1.0', '', { tags: ['b', 'c'] })
    const tags = async (method: Method, path: string, body?: object): Promise<unknown> => {
      const answer = await host.ask(method, `${PLUGS}/shared${path}`, body)
      const { tags: all, tag } = answer.body as { tags?: { name: string }[]; tag?: { name: string } }
      return [answer.status, all?.map(({ name }) => name) ?? tag?.name]
    }
    expect(await tags('GET', '/tags')).toEqual([200, ['b']])
    expect(await tags('GET', '/tags?scope=any')).toEqual([200, ['a', 'b', 'c']])
    expect(await tags('PATCH', '/tags', { tags: ['d', { name: 'e', color: '#000000' }] })).toEqual([
      200,
      ['b', 'd', 'e'],
    ])
    expect(await tags('PUT', '/versions/1.0.0/tags', { tags: ['x'] })).toEqual([200, ['x']])
    expect(await tags('GET', '/versions/1.1.0/tags')).toEqual([200, ['b', 'c', 'd', 'e']])
    expect(await tags('GET', '/tags/x')).toEqual([404, undefined])
    expect(await tags('GET', '/tags/x?scope=any')).toEqual([200, 'x'])
    expect(await tags('PUT', '/tags/y')).toEqual([200, 'y'])
    expect(await tags('GET', '/tags')).toEqual([200, ['y']])
    expect(await tags('DELETE', '/tags/y')).toEqual([200, 'y'])
    expect(await tags('DELETE', '/tags/y')).toEqual([404, undefined])
    expect(await tags('DELETE', '/versions/1.0.0/tags/x')).toEqual([200, 'x'])
    expect(await tags('DELETE', '/tags?scope=any')).toEqual([200, ['b', 'c', 'd', 'e']])
    expect(await tags('GET', '/tags?scope=any')).toEqual([200, []])
  })

  it('of the tenant are listed, keep their colours, and are removed when unused', async () => {
    await registered('paints', '1.0.0', '', { tags: [{ name: 'paint', color: '#abcdef' }] })
    await registered('paints', '1.0.1', '', { tags: [{ name: 'paint', color: '#000000' }, 'paintless'] })
    const paint = { name: 'paint', color: '#abcdef' }
    expect((await host.ask('GET', `${REGISTRY}/tags/paint`)).body).toEqual({ tag: paint })
    expect((await host.ask('GET', `${REGISTRY}/tags/?name=PAINT*`)).body).toMatchObject({
      tags: [paint, { name: 'paintless' }],
    })
    expect((await host.ask('GET', `${REGISTRY}/tags?color=%23abcdef`)).body).toEqual({ tags: [paint] })
    await host.ask('PUT', `${versionOf('paints', '1.0.1')}/tags`, { tags: ['paint'] })
    const dropped = (await host.ask('DELETE', `${REGISTRY}/tags/`)).body['tags'] as { name: string }[]
    expect(dropped.map(({ name }) => name)).toContain('paintless')
    expect(await host.ask('GET', `${REGISTRY}/tags/paintless`)).toMatchObject({
      status: 404,
      body: { statusCode: 404 },
    })
    expect((await host.ask('GET', `${REGISTRY}/tags/paint`, undefined, 'umbrella')).status).toBe(404)
  })
})

describe('a draft', () => {
  it('of another owner changes only with chown', async () => {
    await registered('taken', '1.0.0', '&draft=true')
    const version = versionOf('taken')
    const body = await tarOf(nodePlug())
    const requests: readonly [Method, string, (object | Buffer)?][] = [
      ['PUT', '/content?deploy=false', body],
      ['PUT', '/main?deploy=false', Buffer.from('export {}')],
      ['DELETE', '/content/package.json?deploy=false'],
      ['PATCH', '/manifest?deploy=false', { metadata: {} }],
      ['POST', '/publish'],
      ['POST', '/protect'],
    ]
    for (const [method, path, payload] of requests) {
      const answer = await host.ask(method, version + path, payload, 'bob')
      expect([path, answer.status, answer.body['code']]).toEqual([path, 403, 'FORBIDDEN'])
    }
    const taken = await host.ask('PUT', `${version}/main?deploy=false&chown=true`, Buffer.from('export {}'), 'bob')
    expect(taken.status).toBe(201)
    expect((await host.ask('PUT', `${version}/main?deploy=false`, Buffer.from('export {}'))).status).toBe(403)
  })

  it('takes single assets by path and by role, whatever their type is, and forms', async () => {
    await registered('parts', '1.0.0', '&draft=true')
    const version = versionOf('parts')
    const put = (path: string, text: string, type: string) =>
      host.ask('PUT', `${version}/${path}?deploy=false&async=false`, Buffer.from(text), 'acme', type)
    expect((await put('content/lib/data.json', '{"a":1}', 'application/json')).status).toBe(201)
    expect((await put('content/lib/notes.txt', 'hot', 'text/plain')).status).toBe(201)
    expect((await put('project', '{"type":"module","a":1}', 'application/json')).status).toBe(201)
    expect((await host.send('GET', `${version}/content/lib/data.json`)).body).toBe('{"a":1}')
    expect((await host.send('GET', `${version}/project`)).body).toBe('{"type":"module","a":1}')
    const form = [
      '--b',
      'content-disposition: form-data; name="assets"; filename="lib/form.js"',
      '',
      'export const one = 1',
      '--b',
      'content-disposition: form-data; name="index.js"',
      '',
      'export default 2',
      '--b--',
      '',
    ].join('\r\n')
    const sent = await host.ask(
      'PUT',
      `${version}/content?deploy=false`,
      Buffer.from(form),
      'acme',
      'multipart/form-data; boundary=b',
    )
    expect(sent.status).toBe(201)
    expect((await host.send('GET', `${version}/main`)).body).toBe('export default 2')
    const { body } = await host.ask('GET', `${version}/content?ls=true`)
    const roles = (body['assets'] as { name: string; role: string }[]).map(({ name, role }) => [name, role])
    expect(roles).toEqual([
      ['index.js', 'main'],
      ['lib/data.json', 'lib'],
      ['lib/form.js', 'lib'],
      ['lib/notes.txt', 'lib'],
      ['package.json', 'project'],
      ['plug.json', 'manifest'],
    ])
    const below = await host.ask('GET', `${version}/content/lib/?ls=true`)
    expect(below.body['assets']).toHaveLength(3)
    for (const [path, problem] of [
      ['content/lib/..%2fx', 400],
      ['content/node_modules/x.js', 400],
      ['content/plug.json', 400],
    ] as const) {
      expect((await put(path, '[]', 'text/plain')).status, path).toBe(problem)
    }
    expect((await host.ask('PUT', `${version}/content`, Buffer.from('--'), 'acme', 'multipart/form-data')).status).toBe(
      400,
    )
    expect((await host.ask('PUT', `${version}/content`, Buffer.from('--'), 'acme', 'text/plain')).status).toBe(415)
  })

  it('has its manifest merged, and keeps what names it', async () => {
    await registered('merged', '1.0.0', '&draft=true', { metadata: { author: 'anna' } })
    const version = versionOf('merged')
    const patch = { metadata: { description: 'warm' }, interface: { output: [{ name: 'above' }] } }
    const patched = await host.ask('PATCH', `${version}/manifest?deploy=false`, patch)
    expect(plugIn(patched.body)).toMatchObject({
      metadata: { author: 'anna', description: 'warm' },
      interface: { states: ['Warm', 'Cold'], output: [{ name: 'above' }] },
    })
    const manifest = await host.send('GET', `${version}/manifest`)
    expect(manifest.json()).toMatchObject({ metadata: { author: 'anna', description: 'warm' } })
    for (const wrong of [{ name: 'other' }, { version: '2.0.0' }, { runtime: 'plug-python3' }]) {
      expect((await host.ask('PATCH', `${version}/manifest`, wrong)).status, JSON.stringify(wrong)).toBe(400)
    }
  })
})

describe('a published version', () => {
  it('is described otherwise without a change from assets', async () => {
    await registered('described')
    const version = versionOf('described')
    const before = await host.send('GET', `${version}/content`)
    const patched = await host.ask('PATCH', `${version}/metadata?comment=better`, {
      description: 'Of the boiler',
      tags: ['described'],
    })
    expect(patched.body).toMatchObject({
      entity: {
        plug: { metadata: { description: 'Of the boiler' }, tags: [{ name: 'described' }] },
        updates: [{ operation: 'metadata-update', comment: 'better', by: 'acme' }, { operation: 'create' }],
      },
    })
    const documentation = { description: 'Warm?', states: [{ name: 'Warm', description: 'above' }] }
    const documented = await host.ask('PATCH', `${version}/interface`, documentation)
    expect(plugIn(documented.body)['metadata']).toMatchObject({ description: 'Of the boiler', documentation })
    expect((await host.send('GET', `${version}/content`)).rawPayload).toEqual(before.rawPayload)
    expect((await host.ask('PATCH', `${version}/manifest`, {})).status).toBe(409)
  })

  it('that is protected shows its assets only to its owner', async () => {
    await registered('secret', '1.0.0')
    await registered('secret', '1.1.0')
    expect((await host.ask('POST', `${PLUGS}/secret/protect`)).body).toEqual({
      message: "Protected plug 'secret'",
      versions: ['1.1.0', '1.0.0'],
    })
    const reads = ['/content', '/content/index.js', '/main', '/manifest']
    for (const path of reads) {
      expect((await host.send('GET', versionOf('secret') + path, undefined, 'bob')).statusCode, path).toBe(403)
      expect((await host.send('GET', versionOf('secret') + path)).statusCode, path).toBe(200)
    }
    expect((await host.ask('GET', `${versionOf('secret')}/content?ls=true`, undefined, 'bob')).status).toBe(200)
    expect((await host.ask('POST', `${PLUGS}?copy=secret`, undefined, 'bob')).status).toBe(403)
    expect((await host.ask('POST', `${PLUGS}/secret/protect?enable=false`, undefined, 'bob')).status).toBe(403)
    const opened = await host.ask('POST', `${versionOf('secret')}/protect?enable=false`)
    expect(opened.body).toMatchObject({
      entity: { plug: { protected: false }, updates: [{ operation: 'unprotect' }, { operation: 'protect' }, {}] },
    })
    expect((await host.send('GET', `${versionOf('secret')}/main`, undefined, 'bob')).statusCode).toBe(200)
  })
})

describe('a copy', () => {
  it('begins with the assets of the newest published version, under a name and version of its own', async () => {
    await registered('source', '1.2.0', '', { tags: ['copied'] })
    await registered('source', '1.3.0', '&draft=true')
    const same = await host.ask('POST', `${PLUGS}?copy=source&deploy=false`)
    expect(plugIn(same.body)).toMatchObject({ name: 'source', version: '2.0.0', tags: [{ name: 'copied' }] })
    const exact = await host.ask('POST', `${PLUGS}?copy=source@1.2.0&deploy=false`)
    expect(plugIn(exact.body)).toMatchObject({ version: '1.2.1' })
    const named = await host.ask('POST', `${PLUGS}?copy=source@^1&name=target&deploy=false&author=bob`)
    expect(plugIn(named.body)).toMatchObject({ name: 'target', version: '1.0.0', metadata: { author: 'bob' } })
    const main = await host.send('GET', `${versionOf('target')}/main`)
    expect(main.body).toBe(nodePlug('1.2.0')['index.js'])
    expect((await host.send('GET', `${versionOf('target')}/manifest`)).json()).toMatchObject({
      name: 'target',
      version: '1.0.0',
    })
  })

  it('replaces assets with those of the body', async () => {
    await registered('base', '1.0.0', '', { metadata: { description: 'of the base' } })
    const overlaid = await host.ask(
      'POST',
      `${PLUGS}?copy=base&name=overlaid&deploy=false`,
      await tarOf({ 'index.js': 'export {}' }),
    )
    expect(overlaid.status).toBe(201)
    const archive = await host.send('GET', `${versionOf('overlaid')}/content`)
    const assets = await readArchive(archive.rawPayload)
    expect(new TextDecoder().decode(assets.get('index.js'))).toBe('export {}')
    expect([...assets.keys()]).toEqual(['index.js', 'package.json', 'plug.json'])
    const json = await host.ask('POST', `${PLUGS}?copy=base&deploy=false`, { name: 'json', version: '3.0.0' })
    expect(plugIn(json.body)).toMatchObject({
      name: 'json',
      version: '3.0.0',
      metadata: { description: 'of the base' },
    })
  })

  it('of the example needs its runtime, and one of an unknown version fails', async () => {
    const example = await host.ask('POST', `${PLUGS}?copy=!example&runtime=plug-python3@^1&name=warmPy&deploy=false`)
    expect(plugIn(example.body)).toMatchObject({ name: 'warmPy', runtime: 'plug-python3', runtimeVersion: '^1' })
    for (const [query, status] of [
      ['copy=!example', 400],
      ['copy=nobody', 404],
      ['copy=warmPy@9.0.0', 404],
      ['copy=warmPy@x.y', 400],
      ['runtime=plug-cobol&copy=warmPy', 400],
    ] as const) {
      expect((await host.ask('POST', `${PLUGS}?${query}`)).status, query).toBe(status)
    }
  })
})

it('checks a dry run as a creation, and keeps nothing of it', async () => {
  const dry = await host.ask(
    'POST',
    `${PLUGS}?dryRun=true`,
    await tarOf({ ...nodePlug(), 'plug.json': manifestOf({ name: 'dry' }) }),
  )
  expect(dry).toMatchObject({ status: 201, body: { message: "plug 'dry@1.0.0' can be created" } })
  expect((await host.ask('GET', `${PLUGS}/dry`)).status).toBe(404)
})

describe('a model', () => {
  it('deprecates earlier patch versions, and is removed some time after its deprecation', async () => {
    const of = (version: string): Promise<Buffer> =>
      tarOf({ ...MODEL, 'model.json': JSON.stringify({ name: 'moves', version, runtime: 'byoml-sklearn' }) })
    for (const version of ['1.0.0', '1.0.1', '1.1.0'])
      await host.ask('POST', `${REGISTRY}/models?deploy=false`, await of(version))
    const { body } = await host.ask('GET', `${REGISTRY}/models/moves/versions`)
    const flags = (body['entities'] as { model: { version: string }; deprecated: boolean }[]).map((one) => [
      one.model.version,
      one.deprecated,
    ])
    expect(flags).toEqual([
      ['1.1.0', false],
      ['1.0.1', false],
      ['1.0.0', true],
    ])
    const removed = await host.ask('DELETE', `${REGISTRY}/models/moves/versions/1.1.0`)
    expect(removed).toEqual({
      status: 200,
      body: { message: "Deprecated model version 'moves@1.1.0'", versions: ['1.1.0'] },
    })
    const report = await host.ask('GET', `${REGISTRY}/models/moves/versions/1.1.0/jobs`)
    expect(report.body).toMatchObject({
      jobs: [
        {
          type: 'undeploy',
          state: 'delayed',
          operation: 'deprecate',
          request: { deleteEntity: true, resetEntity: false },
        },
      ],
      function: { functionType: 'kfserving', name: 'moves', version: '1.1.0' },
      _links: { model: { href: `http://localhost:80${REGISTRY}/models/moves/versions/1.1.0` } },
    })
  })
})

it('a webscript shows its secret, and URL name of the webscript', async () => {
  const created = await host.ask('POST', `${REGISTRY}/webscripts?copy=!example&runtime=web-node24&deploy=false`)
  expect(created.body).toMatchObject({ entity: { webscript: { private: true, allowHmac: true } } })
  const { body } = await host.ask('GET', `${REGISTRY}/webscripts`)
  expect(body['entities']).toMatchObject([
    {
      secret: expect.stringMatching(/^[A-Za-z0-9+/]{43}=$/) as string,
      _links: { invoke: { href: 'http://localhost:80/api/v1/acme/greet' } },
    },
  ])
  await host.ask('POST', `${REGISTRY}/webscripts?copy=greet&name=open&deploy=false`, {
    allowHmac: false,
    private: false,
  })
  expect((await host.ask('GET', `${REGISTRY}/webscripts/open`)).body).toMatchObject({
    entity: { secret: null, webscript: { private: false } },
    _links: { invoke: { href: 'http://localhost:80/api/v1/acme/open' } },
  })
})

describe('a removal', () => {
  it('of several versions is one job, which ends when all are removed', async () => {
    for (const version of ['1.0.0', '1.1.0', '2.0.0']) await registered('several', version)
    const removed = await host.ask('DELETE', `${PLUGS}/several?force=true`)
    expect(removed).toMatchObject({
      status: 202,
      body: { message: "Removing plug 'several'", versions: ['2.0.0', '1.1.0', '1.0.0'] },
    })
    const { job, event } = removed.body['_links'] as Record<string, { href: string; jobType?: string }>
    expect(job?.jobType).toBe('batch')
    const stream = await host.send('GET', event?.href ?? '')
    expect(stream.body).toContain('event: close')
    expect((await host.ask('GET', job?.href ?? '')).body).toMatchObject({
      job: {
        type: 'batch',
        state: 'completed',
        request: { plugName: 'several', functionType: 'plugs', childType: 'undeploy' },
        result: { jobCount: 3 },
      },
    })
    expect((await host.ask('GET', `${PLUGS}/several`)).status).toBe(404)
  })

  it('is in the audit list', async () => {
    await registered('audited')
    await host.ask('DELETE', `${versionOf('audited')}?undeploy=true&async=false&comment=tired`)
    const { body } = await host.ask('GET', versionOf('audited'))
    expect(body).toMatchObject({
      entity: {
        status: 'undeployed',
        deprecated: true,
        updates: [
          { operation: 'undeploy', comment: 'tired', jobs: [expect.any(String)] },
          { operation: 'deprecate', comment: 'tired' },
          { operation: 'create' },
        ],
      },
    })
    for (const query of ['force=true&reset=true', 'force=true&undeploy=true', 'reset=true&undeploy=false'])
      expect((await host.ask('DELETE', `${PLUGS}/audited?${query}`)).status, query).toBe(400)
    const list = await host.ask('GET', `${PLUGS}?name=audited&includeUndeployed=true`)
    expect((list.body['entities'] as Body[])[0]?.['updates']).toBeUndefined()
  })
})

describe('a rebuild', () => {
  it('does what is needed, explains why, and rejects what is not', async () => {
    await using own = await wholeHost()
    const code = `({ state: 'Warm', rawData: { limit: process.env.LIMIT ?? 'none' } })`
    await own.ask('POST', `${PLUGS}?async=false`, await tarOf(nodePlug('1.0.0', code)))
    const before = await own.ask('POST', '/api/sensors/warmth', { properties: { value: 8 } })
    expect(before.body).toMatchObject({ rawData: { limit: 'none' } })
    const rebuild = (query: string, body?: object) =>
      own.ask('POST', `${versionOf('warmth')}/rebuild?async=false&${query}`, body)
    const ignored = await rebuild('')
    expect(ignored).toMatchObject({
      status: 200,
      body: {
        message: "Nothing to rebuild in plug 'warmth@1.0.0'",
        causes: {
          build: { changed: false, reason: 'it is built' },
          deploy: { changed: false },
          verify: { changed: false },
        },
      },
    })
    expect(ignored.body['_links']).toBeUndefined()
    const dry = await rebuild('dryRun=true&forceDeploy=true')
    expect(dry.body).toMatchObject({
      message: "Can rebuild plug 'warmth@1.0.0'",
      causes: { deploy: { changed: true, reason: 'requested' } },
    })
    const deployed = await rebuild('', { deploy: { envVars: { LIMIT: '7' } } })
    expect(deployed.body).toMatchObject({
      causes: { build: { changed: false }, deploy: { changed: true, reason: 'its deployment has changed' } },
      entity: { status: 'running', plug: { deploy: { envVars: { LIMIT: '7' } } } },
    })
    const called = await own.ask('POST', '/api/sensors/warmth', { properties: { value: 8 } })
    expect(called.body).toMatchObject({ rawData: { limit: '7' } })
    const skipped = await rebuild('skipVerify=true&forceDeploy=true&scaleToZero=true')
    expect(skipped.body).toMatchObject({
      causes: { verify: { changed: false, reason: 'left out' } },
      entity: { status: 'running' },
    })
    for (const query of ['forceVersion=9.0.0', 'upgrade=minor&forceVersion=1.0.0']) {
      expect((await rebuild(query)).status, query).toBe(400)
    }
    const verified = await own.ask('POST', `${versionOf('warmth')}/verify?async=false`)
    expect(verified).toMatchObject({ status: 200, body: { result: { healthy: true } } })
    // the version's processes end when it is undeployed, and start again later
    await own.ask('DELETE', `${versionOf('warmth')}?undeploy=true&async=false`)
    expect((await own.ask('GET', '/api/sensors/warmth')).status).toBe(404)
    expect((await rebuild('')).body).toMatchObject({ entity: { status: 'running' } })
  })

  it('backs off after a failure, unless checks are ignored', async () => {
    await using own = await wholeHost({ functions: 'off' })
    const created = await own.ask('POST', `${PLUGS}?async=false`, await tarOf(nodePlug()))
    const failureReason = { cause: 'functions are off on this host' }
    expect(created.body).toMatchObject({ entity: { status: 'failed', failureReason } })
    const again = await own.ask('POST', `${versionOf('warmth')}/rebuild`)
    expect(again).toMatchObject({ status: 200, body: { causes: { build: { changed: false, backoff: true } } } })
    const forced = await own.ask('POST', `${versionOf('warmth')}/rebuild?ignoreChecks=true`)
    expect(forced.status).toBe(202)
    const skipped = await own.ask(
      'POST',
      `${versionOf('warmth')}/rebuild?ignoreChecks=true&skipRebuild=true&forceVersion=1.0.0`,
    )
    expect(skipped.status).toBe(202)
  })
})

describe('runtimes', () => {
  it('are listed by name, type, format and tag', async () => {
    const names = async (query: string): Promise<unknown> =>
      ((await host.ask('GET', `${REGISTRY}/runtimes?${query}`)).body['runtimes'] as { name: string }[]).map(
        ({ name }) => name,
      )
    expect(await names('functionType=plugs')).toEqual(['plug-node24', 'plug-python3'])
    expect(await names('functionType=plugs&archiveFormat=node-')).toEqual(['plug-python3'])
    expect(await names('name=PLUG-*&tags=javascript')).toEqual(['plug-node24'])
    expect(await names('functionType=kfserving&name=*torch')).toEqual(['byoml-pytorch'])
    expect(await names('functionType=plugs&version=^2')).toEqual([])
    const embedded = await host.ask('GET', `${REGISTRY}/runtimes?name=plug-node24&showTags=embed`)
    expect(embedded.body).toMatchObject({
      runtimes: [{ tags: ['javascript'], versions: [{ version: '1.0.0', deprecated: false, upgradable: false }] }],
      _embedded: { tags: [{ name: 'javascript' }] },
    })
    const conditions = [
      { role: 'manifest', pattern: 'plug.json', min: 1 },
      { role: 'main', pattern: 'index.js' },
      {},
      {},
      {},
    ]
    const runtime = { name: 'plug-node24', functionType: 'plugs', version: '1.0.0', assets: { conditions } }
    for (const path of ['plug-node24', 'plug-node24/versions/^1'])
      expect((await host.ask('GET', `${REGISTRY}/runtimes/${path}`)).body).toMatchObject({ runtime })
    expect((await host.ask('GET', `${REGISTRY}/runtimes/plug-node24/versions`)).body).toMatchObject({
      runtimes: [{ name: 'plug-node24', versions: [{ version: '1.0.0' }] }],
    })
  })

  it('have the schemas of uploads', async () => {
    const schema = await host.ask('GET', `${REGISTRY}/schemas/webscripts-manifest`)
    expect(schema.body).toMatchObject({
      title: 'Manifest of a webscript',
      properties: { allowHmac: { type: 'boolean' } },
    })
    const older = await host.ask('GET', `${REGISTRY}/schemas/kfserving/manifest/schema`)
    expect(older.body).toMatchObject({ title: 'Manifest of a model' })
    expect((await host.ask('GET', `${REGISTRY}/schemas/none`)).status).toBe(404)
  })
})
