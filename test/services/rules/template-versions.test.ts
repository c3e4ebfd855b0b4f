import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { TASKS } from '../../../src/services/rules/tasks/task-record.ts'
import { OLD_VERSIONS, TEMPLATES } from '../../../src/services/rules/templates/template-record.ts'
import { MAX_VERSIONS } from '../../../src/services/rules/templates/template-versions.ts'
import type { Template } from '../../../src/index.ts'
import { MemoryDisk } from '../../../src/storage/memory/memory-disk.ts'
import { openMemory } from '../../../src/storage/memory/open-memory.ts'
import { PAGED_MEDIA_TYPE } from '../../../src/services/shared/http/media-types.ts'
import { pluck } from '../support/answer.ts'
import { bench, NOON, type Bench } from './support/bench-of-rules.ts'
import { GRAPH, templateOf } from './support/rules.ts'

let rules: Bench
beforeEach(async () => {
  rules = await bench()
})
afterEach(() => rules.close())

const NAME = 'overheating'
const made = { template: NAME, name: 'm', resource: 'boiler-1' }

function limited(limit: number, more: Partial<Template> = {}): Template {
  return templateOf(NAME, { sensors: GRAPH.sensors.map((sensor) => ({ ...sensor, properties: { limit } })), ...more })
}

/** Creates versions of the template; version n has the limit 100 + n. */
async function versions(count: number): Promise<void> {
  await rules.ask('POST', '/api/templates', limited(101))
  for (let n = 2; n <= count; n++) await rules.ask('PUT', `/api/templates/${NAME}`, limited(100 + n))
}

const limitOf = async (task: string) =>
  (await rules.ask('GET', `/api/tasks/${task}?format=simplified`)).at('network.sensors.0.properties.limit')
const versionOf = async (task: string) => (await rules.ask('GET', `/api/tasks/${task}`)).at('templateVersion')
const kept = async (query = '?hits=100') => {
  const { body } = await rules.ask('GET', `/api/templates/${NAME}/versions${query}`)
  return pluck(body, 'version')
}

describe('a template', () => {
  it.each([
    ['its rule', limited(95)],
    ['its variables', limited(90, { variables: [{ name: 'v', type: 'double' }] })],
    ['its defaults', limited(90, { taskDefaults: { type: 'reactive' } })],
  ])('gets a new version after a change of %s', async (_what, changed) => {
    expect((await rules.ask('POST', '/api/templates', limited(90))).at('entity.version')).toBe(1)
    expect((await rules.ask('PUT', `/api/templates/${NAME}`, changed)).at('version')).toBe(2)
    expect((await rules.ask('GET', `/api/templates/${NAME}`)).at('version')).toBe(2)
  })

  it.each([
    ['description', limited(90, { description: 'new' })],
    ['tags', limited(90, { tags: { site: 'x' } })],
    ['spelling', limited(90, { relations: [], notes: [] })],
  ])('keeps its version after a change of only its %s', async (_what, changed) => {
    await rules.ask('POST', '/api/templates', limited(90))
    expect((await rules.ask('PUT', `/api/templates/${NAME}`, changed)).at('version')).toBe(1)
    expect(await kept()).toEqual([1])
  })

  it('gets a new version when its plugs are upgraded, and none without an upgrade', async () => {
    await rules.ask('POST', '/api/templates', limited(90))
    const updates = [{ name: 'heat', fromVersion: '1.0.0', toVersion: '1.1.0' }]
    for (const _time of [1, 2]) await rules.ask('PATCH', '/api/templates', { operation: 'updatePlugins', updates })
    expect((await rules.ask('GET', `/api/templates/${NAME}`)).at('version')).toBe(2)
  })

  it('lists its versions, newest first, with their authors and numbers of tasks', async () => {
    await versions(2)
    rules.clock.advanceTo(NOON + 1000)
    await rules.ask('PUT', `/api/templates/${NAME}`, limited(103))
    await rules.ask('POST', '/api/tasks', { ...made, templateVersion: 1 })
    const { body, headers } = await rules.ask('GET', `/api/templates/${NAME}/versions`)
    expect(body).toEqual([
      { version: 3, user: 'tester', createTime: NOON + 1000, tasks: 0 },
      { version: 2, user: 'tester', createTime: NOON, tasks: 0 },
      { version: 1, user: 'tester', createTime: NOON, tasks: 1 },
    ])
    expect(headers['x-count']).toBe('3')
    const paged = await rules.ask('GET', `/api/templates/${NAME}/versions?startIndex=1&hits=1`, undefined, {
      accept: PAGED_MEDIA_TYPE,
    })
    expect(paged.body).toMatchObject({ values: [{ version: 2 }], skip: 1, limit: 1, total: 3 })
    expect((await rules.ask('GET', '/api/templates/nope/versions')).status).toBe(404)
  })

  it('keeps its newest versions, and those with tasks', async () => {
    await versions(2)
    await rules.ask('POST', '/api/tasks', { ...made, templateVersion: 2 })
    for (let n = 3; n <= MAX_VERSIONS + 3; n++) await rules.ask('PUT', `/api/templates/${NAME}`, limited(100 + n))
    const all = [...(await kept()), ...(await kept('?startIndex=100&hits=100'))]
    expect(all).toHaveLength(MAX_VERSIONS + 1)
    expect([all.at(-2), all.at(-1)]).toEqual([4, 2])
    await rules.ask('DELETE', '/api/tasks/t1?forceStop=true')
    await rules.ask('PUT', `/api/templates/${NAME}`, limited(1))
    expect(await kept('?startIndex=99&hits=9')).toEqual([5])
  })

  it('restarts at version 1 after its deletion', async () => {
    await versions(3)
    await rules.ask('DELETE', `/api/templates/${NAME}`)
    await rules.ask('POST', '/api/templates', limited(90))
    expect(await kept()).toEqual([1])
  })

  it('can have a name as long as an id', async () => {
    const name = '\u{6e29}'.repeat(170)
    await rules.api.templates.create({ ...limited(1), name })
    await rules.api.templates.replace(name, { ...limited(2), name })
    expect(await rules.api.templates.get(name, 'simplified', 1)).toMatchObject({ version: 1 })
  })

  it('stored before versions existed is version 1, and so are its tasks', async () => {
    await rules.ask('POST', '/api/templates', limited(101))
    await rules.ask('POST', '/api/tasks', made)
    const store = rules.storage.tenant('acme')
    for (const { id, value } of await store.collection(TEMPLATES).find({})) {
      const { version: _version, ...old } = value
      await store.collection(TEMPLATES).put(id, old)
    }
    for (const { id, value } of await store.collection(TASKS).find({})) {
      const { templateVersion: _version, ...old } = value
      await store.collection(TASKS).put(id, old)
    }
    expect(await versionOf('t1')).toBe(1)
    await rules.ask('PUT', `/api/templates/${NAME}`, limited(102))
    expect(await kept()).toEqual([2, 1])
    expect(pluck((await rules.ask('GET', '/api/tasks?templateVersion=1')).body, 'ID')).toEqual(['t1'])
  })
})

describe('a task of a template', () => {
  it('uses the newest version, or a requested one', async () => {
    await versions(3)
    await rules.ask('POST', '/api/tasks', made)
    await rules.ask('POST', '/api/tasks', { ...made, templateVersion: 2 })
    expect([await versionOf('t1'), await limitOf('t1')]).toEqual([3, 103])
    expect([await versionOf('t2'), await limitOf('t2')]).toEqual([2, 102])
    expect((await rules.ask('GET', '/api/tasks/t2/conf')).body).toEqual({ ...made, templateVersion: 2 })
  })

  it.each([
    [7, 'No version 7 of template overheating; its newest is 3'],
    [0, '/templateVersion'],
    ['2', '/templateVersion'],
  ])('is rejected for version %j', async (templateVersion, reason) => {
    await versions(3)
    const answer = await rules.ask('POST', '/api/tasks', { ...made, templateVersion })
    expect(answer.status).toBe(400)
    expect(answer.at('error')).toContain(reason)
    expect(pluck(answer.at('details'), 'path')).toEqual(['/templateVersion'])
  })

  it('moves to the newest version by reload, or back to a requested one', async () => {
    await versions(2)
    await rules.ask('POST', '/api/tasks', made)
    await rules.ask('PUT', `/api/templates/${NAME}`, limited(103))
    expect([await versionOf('t1'), await limitOf('t1')]).toEqual([2, 102])
    expect((await rules.ask('POST', '/api/tasks/t1/command/reload')).at('templateVersion')).toBe(3)
    expect(await limitOf('t1')).toBe(103)
    const preview = await rules.ask('POST', '/api/tasks/t1/command/reload?dryRun&templateVersion=1')
    const changes = [{ path: '/sensors/0/properties/limit', from: 103, to: 101 }]
    expect(preview.body).toEqual({ ID: 't1', name: 'm', changed: true, changes, templateVersion: 1, lost: [] })
    expect(await limitOf('t1')).toBe(103)
    const back = await rules.ask('POST', '/api/tasks/t1/command/reload?templateVersion=1')
    expect([back.at('templateVersion'), await limitOf('t1')]).toEqual([1, 101])
    expect((await rules.ask('POST', '/api/tasks/t1/command/reload?templateVersion=9')).status).toBe(400)
  })

  it('is reloaded to a requested version by a batch, and by the old operation', async () => {
    await versions(3)
    await rules.ask('POST', '/api/tasks', made)
    const reload = { entity: 'task', action: 'reload', query: { ids: ['t1'] } } as const
    const batch = await rules.api.batches.run({ ...reload, actionParameters: { templateVersion: 2 } })
    expect(Object.keys(batch.results?.success ?? {})).toEqual(['t1'])
    expect([await versionOf('t1'), await limitOf('t1')]).toEqual([2, 102])
    const missing = await rules.api.batches.run({ ...reload, actionParameters: { templateVersion: 9 } })
    expect(missing.results?.failure['t1']?.error).toContain('No version 9 of template overheating')
    const old = { operation: 'command', command: 'reload', templateVersion: 1 }
    expect((await rules.ask('PATCH', '/api/tasks?ids=t1', old)).body).toEqual({ successful: ['t1'] })
    expect(await versionOf('t1')).toBe(1)
    const wrong = await rules.ask('POST', '/api/batch', { ...reload, actionParameters: { templateVersion: 'last' } })
    expect(pluck(wrong.at('details'), 'path')).toEqual(['/actionParameters/templateVersion'])
  })

  it('that moves to an equal version keeps its run', async () => {
    await versions(1)
    await rules.ask('PUT', `/api/templates/${NAME}`, limited(90))
    await rules.ask('PUT', `/api/templates/${NAME}`, limited(101))
    await rules.ask('POST', '/api/tasks', { ...made, templateVersion: 1 })
    await rules.ask('POST', '/api/tasks/t1/command/reload')
    expect(await versionOf('t1')).toBe(3)
    expect(rules.runner.told).toEqual(['begin t1 1'])
  })
})

describe('after a restart', () => {
  it('versions are kept, and a task of a deleted version runs', async () => {
    const disk = new MemoryDisk()
    const before = await bench({ storage: openMemory({ disk }) })
    await before.ask('POST', '/api/templates', limited(101))
    await before.ask('PUT', `/api/templates/${NAME}`, limited(102))
    await before.ask('POST', '/api/tasks', { ...made, templateVersion: 1 })
    await before.ask('POST', '/api/tasks', { ...made, templateVersion: 2 })
    const [gone] = await before.storage.tenant('acme').collection(OLD_VERSIONS).ids({})
    await before.close()
    await before.storage.close()
    await rules.close()
    rules = await bench({ storage: openMemory({ disk }), firstId: 1000 })
    expect(await kept()).toEqual([2, 1])
    await rules.storage
      .tenant('acme')
      .collection(OLD_VERSIONS)
      .delete(gone ?? '')
    expect(await kept()).toEqual([2])
    expect([await versionOf('t1'), await limitOf('t1')]).toEqual([1, 101])
    await rules.ask('POST', '/api/tasks/t1/command/restart')
    await rules.ask('POST', '/api/data', { resource: 'boiler-1', data: { parameterName: 'temperature', value: 102 } })
    expect((await rules.ask('GET', '/api/tasks/t1/nodes/hot')).at('mostLikelyState.state')).toBe('HOT')
    expect((await rules.ask('GET', '/api/tasks/t2/nodes/hot')).at('mostLikelyState.state')).toBe('COLD')
  })
})

describe('a draft', () => {
  const draft = (limit: number, note = '') =>
    rules.ask('PUT', `/api/templates/${NAME}?draft=true&note=${note}`, limited(limit))
  const publish = (version: number, headers?: Record<string, string>) =>
    rules.ask('POST', `/api/templates/${NAME}/versions/${version}/publish`, undefined, headers)

  it('is stored beside the published version, which tasks and readers keep', async () => {
    await versions(2)
    expect((await draft(150, 'hotter')).body).toMatchObject({ version: 3, draft: true, note: 'hotter' })
    expect((await rules.ask('GET', `/api/templates/${NAME}`)).at('version')).toBe(2)
    const { body } = await rules.ask('GET', `/api/templates/${NAME}/versions?hits=10`)
    expect(body).toMatchObject([{ version: 3, draft: true, note: 'hotter', tasks: 0 }, { version: 2 }, { version: 1 }])
    const shown = await rules.ask('GET', `/api/templates/${NAME}?version=3&format=simplified`)
    expect([shown.at('draft'), shown.at('sensors.0.properties.limit')]).toEqual([true, 150])
    await rules.ask('POST', '/api/tasks', made)
    expect(await versionOf('t1')).toBe(2)
  })

  it('is not used by tasks: neither by new ones, nor after a reload', async () => {
    await versions(1)
    await draft(150)
    const refused = await rules.ask('POST', '/api/tasks', { ...made, templateVersion: 2 })
    expect([refused.status, refused.at('error')]).toEqual([400, expect.stringContaining('version 2') as unknown])
    await rules.ask('POST', '/api/tasks', made)
    expect((await rules.ask('POST', '/api/tasks/t1/command/reload?templateVersion=2')).status).toBe(400)
    expect(await limitOf('t1')).toBe(101)
  })

  it('becomes the version of new tasks when it is published; running tasks stay unchanged', async () => {
    await versions(1)
    await draft(150)
    await rules.ask('POST', '/api/tasks', made)
    expect((await publish(2)).body).toMatchObject({ version: 2 })
    expect((await publish(2)).status).toBe(400)
    expect(await limitOf('t1')).toBe(101)
    await rules.ask('POST', '/api/tasks', { ...made, name: 'n' })
    expect([await versionOf('t2'), await limitOf('t2')]).toEqual([2, 150])
    expect(await kept()).toEqual([2, 1])
  })

  it('keeps its number when it is published after later versions, and numbers are never reused', async () => {
    await versions(1)
    await draft(150)
    await rules.ask('PUT', `/api/templates/${NAME}`, limited(160))
    expect((await publish(2)).at('version')).toBe(2)
    expect((await rules.ask('PUT', `/api/templates/${NAME}`, limited(170))).at('version')).toBe(4)
    expect(await kept()).toEqual([4, 3, 2, 1])
  })

  it('can be the first version of a template, which has no tasks until it is published', async () => {
    expect((await rules.ask('POST', '/api/templates?draft=true', limited(101))).at('entity.draft')).toBe(true)
    expect((await rules.ask('POST', '/api/tasks', made)).status).toBe(400)
    expect((await publish(1)).body).not.toHaveProperty('draft')
    expect((await rules.ask('POST', '/api/tasks', made)).status).toBe(201)
    expect(await kept()).toEqual([1])
  })

  it('is validated like a published version, and published under an If-Match condition', async () => {
    await versions(1)
    expect((await rules.ask('PUT', `/api/templates/${NAME}?draft=true`, { ...limited(1), sensors: [{}] })).status).toBe(
      400,
    )
    await draft(150)
    expect((await publish(2, { 'if-match': '"1"' })).status).toBe(412)
    expect((await publish(7)).status).toBe(404)
    expect((await publish(1)).status).toBe(400)
  })
})
