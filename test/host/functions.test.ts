/** Tests a tenant's plugs in a whole host: uploaded, built, checked, used by rules, updated and removed. */
import type { InjectOptions } from 'fastify'
import { describe, expect, it } from 'vitest'
import { readArchive } from '../../src/services/functions/registry/archive.ts'
import { type Files, manifestOf, nodePlug, PLUGS, tarOf } from './function-host.ts'
import { wholeHost } from './whole-host.ts'

const RULE = {
  sensors: [
    { label: 'w', resource: '$', name: 'warmth', version: '1.0.0', properties: { value: '${streamdata.temperature}' } },
  ],
  task: { name: 'watch', type: 'reactive', resource: 'r1' },
}

describe('a plug of a tenant', () => {
  // Holds FUNCTION-4
  it('is built, checked, used by a rule, and cannot be removed while the rule exists', async () => {
    await using host = await wholeHost()
    const created = await host.ask('POST', `${PLUGS}/?async=false`, await tarOf(nodePlug()))
    expect(created).toMatchObject({
      status: 201,
      body: {
        message: "Building and deploying plug 'warmth@1.0.0'",
        entity: {
          status: 'running',
          draft: false,
          runtime: { name: 'plug-node24' },
          updates: [{ operation: 'create' }],
        },
      },
    })
    const { body: sensor } = await host.ask('GET', '/api/sensors/warmth')
    expect(sensor).toMatchObject({ name: 'warmth', version: '1.0.0', states: ['Warm', 'Cold'] })

    const { body: task } = await host.ask('POST', '/api/tasks', RULE)
    await host.ask('POST', '/resources/r1/events', { temperature: 30 })
    const state = async () => (await host.ask('GET', `/api/tasks/${String(task['ID'])}/nodes/w`)).body
    await expect
      .poll(state)
      .toMatchObject({ mostLikelyState: { state: 'Warm', probability: 1 }, rawData: { value: 30 } })

    const removed = await host.ask('DELETE', `${PLUGS}/warmth/versions/1.0.0?force=true`)
    expect(removed).toMatchObject({
      status: 409,
      body: {
        code: 'CONFLICT',
        error: "'warmth@1.0.0' is used by one task or template; switch to another version first",
      },
    })
    const log = await host.ask('GET', `${PLUGS}/warmth/versions/1.0.0/log`)
    expect(log.body['lines']).toMatchObject([{ level: 'info', text: 'asked about 30' }])
  })

  // Holds FUNCTION-3
  it('is invisible to other tenants', async () => {
    await using host = await wholeHost()
    await host.ask('POST', `${PLUGS}?async=false`, await tarOf(nodePlug()))
    const requests: [InjectOptions['method'], string][] = [
      ['GET', `${PLUGS}/warmth`],
      ['GET', `${PLUGS}/warmth/versions/1.0.0`],
      ['GET', `${PLUGS}/warmth/versions/1.0.0/content`],
      ['GET', `${PLUGS}/warmth/versions/1.0.0/log`],
      ['DELETE', `${PLUGS}/warmth`],
      ['POST', `${PLUGS}/warmth/versions/1.0.0/rebuild`],
      ['GET', '/api/sensors/warmth'],
    ]
    for (const [method, url] of requests)
      expect((await host.ask(method, url, undefined, 'umbrella')).status, url).toBe(404)
    for (const url of [PLUGS, '/registry/v2/jobs']) {
      const { body } = await host.ask('GET', url, undefined, 'umbrella')
      expect(body['entities'] ?? body['jobs'], url).toEqual([])
    }
  })

  it.each<[string, string, object]>([
    [
      'a function of options and send',
      `const util = require('@waylay/sandbox-util')
module.exports = function (options, send) {
  const { value } = options.requiredProperties
  console.log('asked about ' + value)
  send(null, { observedState: value > 25 ? 'Warm' : 'Cold', rawData: { value, at: util.getResource(options) } })
  send(new Error('too late'))
}`,
      { state: 'Cold', rawData: { value: 7, at: 'r' } },
    ],
    [
      'statements with options and send',
      `const { value } = options.requiredProperties
async function execute() {
  await Promise.resolve()
  send(null, { observedState: value > 25 ? 'Warm' : 'Cold', rawData: { level: waylayUtil.getStreamData(options, 'level') } })
}
execute().catch(send)`,
      { state: 'Cold', rawData: { level: 3 } },
    ],
    ['one that sends an error', `module.exports = (options, send) => send('no value')`, { error: 'no value' }],
    ['one that throws', `module.exports = (options, send) => { throw new Error('thrown') }`, { error: 'thrown' }],
  ])('that is written for the platform runs as it is: %s', async (_, code, answer) => {
    await using host = await wholeHost()
    const files = { 'plug.json': manifestOf(), 'index.js': code }
    const created = await host.ask('POST', `${PLUGS}?async=false`, await tarOf(files))
    expect(created.body).toMatchObject({ entity: { status: 'running' } })
    const call = { properties: { value: 7 }, resource: 'r', streamData: { level: 3 } }
    const { body } = await host.ask('POST', '/api/sensors/warmth', call)
    if ('error' in answer) expect(JSON.stringify(body)).toContain(answer.error)
    else expect(body).toMatchObject(answer)
  })
})

describe('the registry', () => {
  it('reports at once what is wrong with an upload, and stores nothing', async () => {
    await using host = await wholeHost()
    const cases: [Files, number, string][] = [
      [{ 'index.js': '' }, 400, 'the assets have no plug.json'],
      [{ ...nodePlug(), 'plug.json': '{' }, 400, 'not JSON'],
      [{ 'plug.json': manifestOf() }, 400, 'has a file index.js'],
      [{ ...nodePlug(), 'plug.json': manifestOf({ runtime: 'plug-cobol' }) }, 400, 'the runtime plug-cobol'],
      [{ ...nodePlug(), 'plug.json': manifestOf({ name: 'condition' }) }, 409, 'is the name of a built-in plug'],
    ]
    for (const [files, status, error] of cases) {
      const answer = await host.ask('POST', PLUGS, await tarOf(files))
      expect([answer.status, String(answer.body['error'])]).toEqual([status, expect.stringContaining(error)])
    }
    const { body } = await host.ask('GET', `${PLUGS}?status=any`)
    expect(body).toEqual({ entities: [], count: 0, limit: 20 })
    expect((await host.ask('POST', PLUGS, { name: 'x' })).status).toBe(400)
  })

  // Holds FUNCTION-1
  it('explains why a version is not running', async () => {
    await using host = await wholeHost()
    const mismatched = { ...nodePlug(), 'plug.json': manifestOf({ interface: { states: ['Hot'] } }) }
    const unhealthy = await host.ask('POST', `${PLUGS}?async=false`, await tarOf(mismatched))
    expect(unhealthy.body['entity']).toMatchObject({
      status: 'unhealthy',
      failureReason: { cause: 'its states is ["Cold","Warm"] in the code and ["Hot"] in plug.json' },
    })
    const broken = { ...nodePlug('1.0.1'), 'index.js': 'throw new Error("no luck")' }
    const second = await host.ask('POST', `${PLUGS}?async=false`, await tarOf(broken))
    expect(JSON.stringify(second.body['entity'])).toContain('it did not start: no luck')
    // neither version passed its check, so no rule can use it
    expect((await host.ask('GET', '/api/sensors/warmth')).status).toBe(404)
  })

  // Holds FUNCTION-2
  it('lets a draft change until it is published, and nothing after that', async () => {
    await using host = await wholeHost()
    const draft = await host.ask('POST', `${PLUGS}?draft=true&async=false`, await tarOf({ 'plug.json': manifestOf() }))
    expect(draft.body).toMatchObject({ entity: { status: 'registered', draft: true, failureReason: {} } })
    const version = `${PLUGS}/warmth/versions/1.0.0`
    const changed = await host.ask('PUT', `${version}/content?async=false`, await tarOf(nodePlug()))
    expect(changed).toMatchObject({ status: 201, body: { entity: { status: 'running', draft: true } } })
    expect((await host.ask('GET', '/api/sensors/warmth')).status).toBe(404)

    expect((await host.ask('GET', `${version}/content?ls=true`)).body).toMatchObject({
      assets: [{ name: 'index.js' }, { name: 'package.json' }, { name: 'plug.json' }],
    })
    const archive = await host.send('GET', `${version}/content`)
    expect([...(await readArchive(archive.rawPayload)).keys()]).toEqual(['index.js', 'package.json', 'plug.json'])
    expect((await host.send('GET', `${version}/content/index.js`)).body).toBe(nodePlug()['index.js'])

    const published = await host.ask('POST', `${version}/publish`)
    expect(published).toMatchObject({
      status: 201,
      body: { message: "Published plug 'warmth@1.0.0'", entity: { draft: false } },
    })
    expect((await host.ask('GET', '/api/sensors/warmth')).status).toBe(200)
    const late = await host.ask('PUT', `${version}/content`, await tarOf(nodePlug()))
    expect(late).toMatchObject({ status: 409, body: { code: 'CONFLICT' } })
    expect((await host.ask('DELETE', `${version}/content/index.js`)).status).toBe(409)
  })

  it('has working examples of its runtimes', async () => {
    await using host = await wholeHost()
    const { body } = await host.ask('GET', '/registry/v2/runtimes?functionType=plugs&functionType=webscripts')
    const runtimes = body['runtimes'] as { readonly name: string; readonly functionType: string }[]
    expect(runtimes.map(({ name }) => name)).toEqual(['plug-node24', 'plug-python3', 'web-node24', 'web-python3'])
    for (const { name, functionType } of runtimes) {
      const example = await host.send('GET', `/registry/v2/runtimes/${name}/versions/^1/example`)
      const created = await host.ask('POST', `/registry/v2/${functionType}?async=false&version=*`, example.rawPayload)
      expect(created.body, name).toMatchObject({ entity: { status: 'running' } })
    }
  })
})
