/** Tests roll-outs on a whole host: shadows, canaries, promotion, roll-back, restarts and automatic stops. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Alarm } from '../../src/services/alarms/contract.ts'
import type {
  Rehearsal,
  Rollout,
  RolloutPreview,
  TaskEntity,
  TemplateEntity,
} from '../../src/services/rules/contract.ts'
import { runs } from '../support/arbitraries/runs.ts'
import { testFolder } from '../support/test-folder.ts'
import { wholeHost, type WholeHost } from './whole-host.ts'

const template = (enter: number, name = 'hot') => ({
  name,
  sensors: [
    { label: 'hot', name: 'hysteresis', resource: '$', properties: { value: 'temperature', enter, leave: 70 } },
    { label: 'high', name: 'hysteresis', resource: '$', properties: { value: 'pressure', enter: 5, leave: 4 } },
  ],
  actuators: [
    { label: 'alarm', name: 'createAlarm', properties: { type: 'HOT', severity: 'MAJOR', text: '{{hot.value}}' } },
    { label: 'note', name: 'log', properties: { message: 'the alarm was raised' } },
  ],
  triggers: [
    { sourceLabel: 'hot', destinationLabel: 'alarm', begins: ['On'] },
    { sourceLabel: 'high', destinationLabel: 'note', begins: ['On'] },
  ],
  taskDefaults: { type: 'reactive' },
})

async function withTasks(host: WholeHost, count: number): Promise<readonly string[]> {
  await host.done('POST', '/api/templates', template(90))
  await host.done('PUT', '/api/templates/hot?draft=true&note=earlier', template(80))
  const ids: string[] = []
  for (let i = 1; i <= count; i++) {
    const body = { template: 'hot', name: `boiler ${i}`, resource: `boiler-${i}` }
    ids.push((await host.done<{ ID: string }>('POST', '/api/tasks', body)).ID)
  }
  return ids
}

const begin = (host: WholeHost, body: object) => host.done<Rollout>('POST', '/api/templates/hot/rollouts', body)
const shown = (host: WholeHost, id: string) => host.done<Rollout>('GET', `/api/templates/hot/rollouts/${id}`)
const end = (host: WholeHost, id: string, how: 'promote' | 'rollback') =>
  host.done<Rollout>('POST', `/api/templates/hot/rollouts/${id}/${how}`)
const post = (host: WholeHost, resource: string, body: object) =>
  host.done('POST', `/resources/${resource}/events`, body)
const versions = async (host: WholeHost, ids: readonly string[]) =>
  Promise.all(ids.map(async (id) => (await host.done<TaskEntity>('GET', `/api/tasks/${id}`)).templateVersion))
const published = async (host: WholeHost) => (await host.done<TemplateEntity>('GET', '/api/templates/hot')).version
const alarms = async (host: WholeHost) =>
  (await host.done<{ alarms: readonly Alarm[] }>('GET', '/alarm/alarms')).alarms.map(({ source }) => source.id)

// Holds SHADOW-2
describe('a shadow', () => {
  it('reports what its version would do on the same inputs, and changes nothing', async () => {
    await using host = await wholeHost()
    const ids = await withTasks(host, 2)
    const { id, status, tasks } = await begin(host, { version: 2, mode: 'shadow' })
    expect({ status, tasks }).toEqual({ status: 'running', tasks: { selected: 2, moved: 0, failed: [] } })
    for (const temperature of [60, 85, 60, 95, 60]) await post(host, 'boiler-1', { temperature })
    await post(host, 'boiler-2', { temperature: 60, pressure: 6 })
    const { comparison } = await shown(host, id)
    expect(comparison.counts).toEqual({ equal: 2, added: 1, removed: 0, moved: 0 })
    expect(comparison.added).toMatchObject([
      {
        node: 'alarm',
        resource: 'boiler-1',
        firing: { source: 'hot', why: { trigger: {} }, other: [{ blocked: [{}] }] },
      },
    ])
    expect(comparison.day).toEqual({ divergence: 0, errors: 0, alarms: 2 })
    expect(await alarms(host)).toEqual(['boiler-1'])
    expect(await versions(host, ids)).toEqual([1, 1])
    expect((await host.done<readonly unknown[]>('GET', '/api/tasks')).length).toBe(2)
  })

  it('takes over the state of its task, follows its restarts, and ends with it', async () => {
    await using host = await wholeHost()
    const [task] = await withTasks(host, 1)
    await post(host, 'boiler-1', { temperature: 95 })
    const { id } = await begin(host, { version: 2, mode: 'shadow' })
    // a shadow without the state of its task would fire
    await post(host, 'boiler-1', { temperature: 95 })
    expect((await shown(host, id)).comparison.counts).toEqual({ equal: 0, added: 0, removed: 0, moved: 0 })
    await host.done('POST', `/api/tasks/${task}/command/restart`)
    await expect
      .poll(async () => {
        await post(host, 'boiler-1', { temperature: 60 })
        await post(host, 'boiler-1', { temperature: 95 })
        return (await shown(host, id)).comparison.counts.equal
      })
      .toBeGreaterThan(0)
    await host.send('DELETE', `/api/tasks/${task}?forceStop=true`)
    await host.send('DELETE', '/api/templates/hot')
    await expect
      .poll(async () => (await host.ask('GET', `/api/templates/hot/rollouts/${id}`)).body)
      .toMatchObject({
        status: 'stopped',
        reason: 'template hot was deleted',
      })
  })

  // Holds SHADOW-1, DIVERGENCE-1
  it('continues after a restart, and counts each firing once', async () => {
    const data = testFolder()
    let id = ''
    {
      await using host = await wholeHost({ data })
      await withTasks(host, 1)
      id = (await begin(host, { version: 2, mode: 'shadow' })).id
      for (const temperature of [60, 85]) await post(host, 'boiler-1', { temperature })
    }
    await using host = await wholeHost({ data })
    expect((await shown(host, id)).comparison.counts).toEqual({ equal: 0, added: 1, removed: 0, moved: 0 })
    // it is still on, so that only the live version fires
    await post(host, 'boiler-1', { temperature: 95 })
    const { comparison, status } = await shown(host, id)
    expect({ status, counts: comparison.counts }).toMatchObject({ status: 'running', counts: { moved: 1 } })
    expect((await end(host, id, 'rollback')).status).toBe('rolledBack')
    await post(host, 'boiler-1', { temperature: 60 })
    await post(host, 'boiler-1', { temperature: 85 })
    expect((await shown(host, id)).comparison.counts).toEqual(comparison.counts)
  })

  it('stops by itself when it differs too often, and reports why', async () => {
    await using host = await wholeHost()
    await withTasks(host, 1)
    const { id } = await begin(host, { version: 2, mode: 'shadow', tolerance: 'PT0.001S', stop: { divergence: 1 } })
    for (const temperature of [60, 85, 60, 85, 60, 85, 60]) await post(host, 'boiler-1', { temperature })
    const pressed = async () => {
      await post(host, 'boiler-1', { pressure: 1 })
      return (await shown(host, id)).status
    }
    await expect.poll(pressed).toBe('stopped')
    expect((await shown(host, id)).reason).toMatch(/^\d firings of one version only within 24 hours, more than 1$/)
  })
})

describe('a roll-out', () => {
  it('is promoted and rolled back, and lists the lost state before', async () => {
    await using host = await wholeHost()
    const ids = await withTasks(host, 2)
    await post(host, 'boiler-1', { temperature: 95 })
    const { id } = await begin(host, { version: 2, mode: 'shadow' })
    const path = `/api/templates/hot/rollouts/${id}`
    expect(await host.done<RolloutPreview>('POST', `${path}/promote?dryRun=true`)).toMatchObject({
      dryRun: true,
      total: 2,
      tasks: expect.arrayContaining([
        expect.objectContaining({
          ID: ids[0],
          templateVersion: 2,
          lost: [expect.objectContaining({ node: 'hot' }) as unknown],
        }),
      ]) as unknown,
    })
    expect(await end(host, id, 'promote')).toMatchObject({ status: 'promoted', tasks: { moved: 2 } })
    expect([await versions(host, ids), await published(host)]).toEqual([[2, 2], 2])
    await host.done('POST', '/api/tasks', { template: 'hot', name: 'later', resource: 'boiler-9' })
    expect(await host.done<RolloutPreview>('POST', `${path}/rollback?dryRun=true`)).toMatchObject({ total: 3 })
    expect(await end(host, id, 'rollback')).toMatchObject({ status: 'rolledBack', tasks: { moved: 0 } })
    expect([await versions(host, ids), await published(host)]).toEqual([[1, 1], 1])
    await host.done('PUT', '/api/templates/hot', template(75))
    expect(await published(host)).toBe(3)
  })

  it('of a canary moves the same share of resources each time, and compares with the former version', async () => {
    await using host = await wholeHost()
    const ids = await withTasks(host, 12)
    const body = { version: 2, mode: 'canary', percent: 50 }
    const { id, tasks } = await begin(host, body)
    const moved = await versions(host, ids)
    expect(tasks).toMatchObject({ selected: tasks.moved, failed: [] })
    expect(moved.filter((version) => version === 2).length).toBe(tasks.moved)
    expect(tasks.moved).toBeGreaterThan(1)
    expect(tasks.moved).toBeLessThan(11)
    const one = moved.indexOf(2) + 1
    for (const temperature of [60, 85]) await post(host, `boiler-${one}`, { temperature })
    expect((await shown(host, id)).comparison).toMatchObject({
      counts: { added: 1, removed: 0 },
      added: [{ node: 'alarm', resource: `boiler-${one}` }],
    })
    expect(await alarms(host)).toEqual([`boiler-${one}`])
    await end(host, id, 'rollback')
    expect(await versions(host, ids)).toEqual(ids.map(() => 1))
    await begin(host, body)
    expect(await versions(host, ids)).toEqual(moved)
  })

  // Holds ROLLOUT-1
  it('reports a share without tasks, and rejects a second roll-out and contradictory requests', async () => {
    await using host = await wholeHost()
    await withTasks(host, 1)
    const first = await begin(host, { version: 2, mode: 'canary', resources: ['pump'] })
    expect(first).toMatchObject({ status: 'running', tasks: { selected: 0 }, notice: /^no task was moved: / })
    const path = '/api/templates/hot/rollouts'
    expect(await host.ask('POST', path, { version: 2, mode: 'shadow' })).toMatchObject({
      status: 409,
      body: { code: 'CONFLICT', error: expect.stringContaining(first.id) as unknown },
    })
    expect(await host.done('GET', path)).toMatchObject([{ id: first.id, mode: 'canary' }])
    for (const [body, places] of [
      [{ mode: 'shadow' }, ['/version']],
      [{ version: 2, mode: 'canary' }, ['/percent']],
      [{ version: 2, mode: 'all', percent: 5, stop: {} }, ['/percent', '/stop']],
      [{ version: 2, mode: 'shadow', percent: 5, resources: ['a'] }, ['/percent']],
    ] as const) {
      const answer = await host.ask('POST', path, body)
      expect(answer.status).toBe(400)
      const details = answer.body['details'] as readonly { path: string }[]
      expect(new Set(details.map((one) => one.path))).toEqual(new Set(places))
    }
    expect((await host.ask('POST', path, { version: 9, mode: 'all' })).status).toBe(404)
    expect((await host.ask('GET', `${path}/none`)).status).toBe(404)
    expect((await host.ask('GET', `${path}/${first.id}`, undefined, 'umbrella')).status).toBe(404)
  })
})

// Holds REHEARSE-1
it('diverges as the comparison of a rehearsal over the same inputs', async () => {
  const reading = fc.record({
    temperature: fc.option(fc.integer({ min: 60, max: 100 }), { nil: undefined }),
    pressure: fc.option(fc.integer({ min: 3, max: 6 }), { nil: undefined }),
  })
  await using host = await wholeHost()
  let run = 0
  await fc.assert(
    fc.asyncProperty(fc.array(reading, { minLength: 5, maxLength: 25 }), async (readings) => {
      const name = `hot-${++run}`
      const resource = `boiler-${run}`
      await host.done('POST', '/api/templates', template(90, name))
      await host.done('PUT', `/api/templates/${name}?draft=true`, template(80, name))
      const { ID: task } = await host.done<{ ID: string }>('POST', '/api/tasks', { template: name, name, resource })
      const path = `/api/templates/${name}/rollouts`
      const { id } = await host.done<Rollout>('POST', path, { version: 2, mode: 'shadow' })
      for (const one of readings) await post(host, resource, one)
      const { comparison } = await host.done<Rollout>('GET', `${path}/${id}`)
      const { id: rehearsal } = await host.done<Rehearsal>('POST', '/api/rehearsals', {
        template: name,
        templateVersion: 2,
        resources: [resource],
        compareWith: { task },
        source: { from: '-1h' },
      })
      const found = () => host.done<Rehearsal>('GET', `/api/rehearsals/${rehearsal}`)
      await expect.poll(async () => (await found()).status).not.toBe('running')
      const rehearsed = (await found()).comparison
      expect(rehearsed?.counts).toEqual(comparison.counts)
      const brief = ({ time, node, by }: { time: number; node: string; by?: number }) => ({ time, node, by })
      for (const kind of ['added', 'removed', 'moved'] as const)
        expect(comparison[kind].map(brief)).toEqual(rehearsed?.[kind].map(brief))
    }),
    runs(20),
  )
})
