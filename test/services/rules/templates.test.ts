import { openMemory } from '../../../src/storage/memory/open-memory.ts'
import { heldCommits, othersGoOn } from '../../support/held-commits.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { pluck } from '../support/answer.ts'
import { bench, NOON, type Bench } from './support/bench-of-rules.ts'
import { GRAPH, templateOf } from './support/rules.ts'

let rules: Bench
beforeEach(async () => {
  rules = await bench()
})
afterEach(() => rules.close())

const made = { template: 'overheating', name: 'm', resource: 'boiler-1' }

describe('a template', () => {
  it.each(['.', '..'])('cannot be called %s, which a URL cannot contain', async (name) => {
    const { status, at } = await rules.ask('POST', '/api/templates', templateOf(name))
    expect([status, at('error')]).toEqual([400, expect.stringContaining('cannot be part of a URL')])
  })

  it.each(['bn', 'simplified'])('can be put back as it was read, %s, without a warning', async (format) => {
    await rules.ask('POST', '/api/templates', {
      ...templateOf('t', { description: 'd', tags: { a: 1 } }),
      protected: true,
    })
    const got = (await rules.ask('GET', `/api/templates/t?format=${format}`)).body as object
    const put = await rules.ask('PUT', '/api/templates/t?failOnWarning=true', got)
    expect([put.status, put.at('protected'), put.at('version')]).toEqual([200, true, 1])
    const odd = await rules.ask('PUT', '/api/templates/t?failOnWarning=true', { ...got, version: 'x', usr: 'y' })
    expect([odd.status, odd.at('details.0.path'), odd.at('details.1.path')]).toEqual([400, '/version', '/usr'])
  })

  it('cannot be deleted while a task uses it', async () => {
    const { storage, holdNext } = heldCommits(openMemory())
    const b = await bench({ storage })
    await b.api.templates.create(templateOf())
    const held = holdNext()
    const task = b.api.tasks.create(made)
    await held.reached
    const removal = b.api.templates.remove('overheating').then(
      () => 'removed',
      ({ code }: { code: string }) => code,
    )
    await othersGoOn()
    held.go()
    await task
    expect(await removal).toBe('WRONG_STATUS')
    await b.close()
  })

  it('is created with 201, its address and its content', async () => {
    const { status, body, headers } = await rules.ask(
      'POST',
      '/api/templates',
      templateOf('over heating', { description: 'd', tags: { a: 1 } }),
    )
    expect([status, headers['location']]).toEqual([201, 'http://localhost:80/api/templates/over%20heating'])
    expect(body).toEqual({
      statusCode: 201,
      uri: 'http://localhost:80/api/templates/over%20heating',
      entity: {
        name: 'over heating',
        version: 1,
        revision: 1,
        description: 'd',
        tags: { a: 1 },
        discoveryTemplate: false,
        user: 'tester',
        createTime: NOON,
        lastUpdateTime: NOON,
        ...GRAPH,
        relations: [],
        notes: [],
      },
    })
    expect((await rules.ask('GET', '/api/templates/over%20heating')).at('name')).toBe('over heating')
  })

  it('supplies defaults to tasks, below the values of the request', async () => {
    await rules.ask(
      'POST',
      '/api/templates',
      templateOf('overheating', { taskDefaults: { type: 'periodic', frequency: 60_000, tags: { a: 1, b: 1 } } }),
    )
    await rules.ask('POST', '/api/tasks', { ...made, tags: { b: 2 } })
    await rules.ask('POST', '/api/tasks', { ...made, type: 'scheduled', cron: '0 0 * * * ?' })
    expect((await rules.ask('GET', '/api/tasks/t1')).body).toMatchObject({
      type: 'periodic',
      frequency: 60_000,
      tags: { a: 1, b: 2 },
      template: 'overheating',
    })
    const { body } = await rules.ask('GET', '/api/tasks/t2')
    expect(body).toMatchObject({ type: 'scheduled', cron: '0 0 * * * ?' })
    expect(body).not.toHaveProperty('frequency')
  })
})

describe('a draft', () => {
  const draft = { name: 'draft' }
  const warning = [{ type: 'START', severity: 'WARNING', path: '/sensors' }]

  it('may consist of a name, and is stored with a warning', async () => {
    const created = await rules.ask('POST', '/api/templates', draft)
    expect(created.status).toBe(201)
    expect(created.at('warnings')).toMatchObject(warning)
    const replaced = await rules.ask('PUT', '/api/templates/draft', { ...draft, description: 'soon' })
    expect(replaced.status).toBe(200)
    expect(replaced.at('warnings')).toMatchObject(warning)
    const { body } = await rules.ask('GET', '/api/templates/draft')
    expect(body).toMatchObject({ ...draft, description: 'soon', version: 1, nodes: [] })
    expect(body).not.toHaveProperty('warnings')
  })

  it.each([{}, { start: false }])('cannot create a task, and the error states what is missing: %j', async (more) => {
    await rules.ask('POST', '/api/templates', draft)
    const answer = await rules.ask('POST', '/api/tasks', { ...made, template: 'draft', ...more })
    expect(answer.status).toBe(400)
    expect(answer.at('error')).toContain('the rule has no "sensors"')
    expect(answer.at('error')).toContain('"draft"')
    expect((await rules.ask('POST', '/api/templates/draft/run', {})).status).toBe(400)
  })

  it('can create tasks once it has sensors', async () => {
    await rules.ask('POST', '/api/templates', draft)
    expect((await rules.ask('PUT', '/api/templates/draft', templateOf('draft'))).body).not.toHaveProperty('warnings')
    expect((await rules.ask('POST', '/api/tasks', { ...made, template: 'draft' })).status).toBe(201)
  })

  it('does not stop tasks of an older version', async () => {
    await rules.ask('POST', '/api/templates', templateOf())
    await rules.ask('POST', '/api/tasks', made)
    await rules.ask('PUT', '/api/templates/overheating', { name: 'overheating' })
    expect((await rules.ask('POST', '/api/tasks/t1/command/reload')).status).toBe(400)
    expect((await rules.ask('GET', '/api/tasks/t1')).body).toMatchObject({ status: 'running', templateVersion: 1 })
  })

  it('must be valid in the parts that it has', async () => {
    const triggers = [{ sourceLabel: 'a', destinationLabel: 'b', statesTrigger: ['X'] }]
    expect((await rules.ask('POST', '/api/templates', { ...draft, triggers })).status).toBe(400)
    expect((await rules.ask('POST', '/api/templates', {})).status).toBe(400)
  })
})

describe('templates', () => {
  beforeEach(async () => {
    await rules.ask('POST', '/api/templates', templateOf('a', { tags: { site: 'x' } }))
    await rules.ask('POST', '/api/templates', templateOf('b', { description: 'Boilers' }))
    await rules.ask('POST', '/api/templates', {
      name: 'c',
      sensors: [{ label: 'on', name: 'always', version: '1.0.0' }],
    })
  })

  it.each([
    ['', ['a', 'b', 'c']],
    ['filter=boil', ['b']],
    ['ids=a,c', ['a', 'c']],
    ['plugin=always', ['c']],
    ['plugin=heat:1.0.0', ['a', 'b']],
    ['tags.site=x', ['a']],
    ['hits=1&startIndex=1', ['b']],
    // a parameter of tasks: ignored, like every parameter that a read does not know
    ['status=running', ['a', 'b', 'c']],
  ])('listed by "%s" are %j', async (query, names) => {
    const { body } = await rules.ask('GET', `/api/templates?${query}`)
    expect(pluck(body, 'name')).toEqual(names)
  })

  it('omit their graph, unless it is requested', async () => {
    expect((await rules.ask('GET', '/api/templates')).at('0')).not.toHaveProperty('nodes')
    expect((await rules.ask('GET', '/api/templates?includegraph=true')).at('0')).toHaveProperty('nodes')
    const simplified = await rules.ask('GET', '/api/templates?includegraph=true&format=simplified')
    expect([simplified.at('0.sensors.length'), simplified.headers['x-count']]).toEqual([1, '3'])
  })

  it('get newer versions of their plugs, and their tasks are reloaded if requested', async () => {
    await rules.ask('POST', '/api/tasks', { ...made, template: 'a' })
    const updates = [{ name: 'heat', fromVersion: 'any', toVersion: '1.1.0' }]
    const { status, body } = await rules.ask('PATCH', '/api/templates?ids=a,b', {
      operation: 'updatePlugins',
      updates,
      reloadTasks: true,
    })
    expect([status, body]).toEqual([200, { successful: ['a', 'b'] }])
    expect((await rules.ask('GET', '/api/templates/b?format=simplified')).at('sensors.0.version')).toBe('1.1.0')
    await expect
      .poll(async () => (await rules.ask('GET', '/api/tasks/t1?format=simplified')).at('network.sensors.0.version'))
      .toBe('1.1.0')
  })
})
