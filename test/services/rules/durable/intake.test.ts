/** Tests the further features of the intake for its callers: their own writes in the same commit, channels, hops. */
import { describe, expect, it } from 'vitest'
import type { Rule } from '../../../../src/index.ts'
import { definePlug } from '../../../../src/index.ts'
import type { CollectionSpec, Log } from '../../../../src/storage/contract.ts'
import { Ground, runnableOf, TENANT, type Life } from './support/lives.ts'

interface Last {
  readonly level: number
}
const LASTS: CollectionSpec<Last> = { name: 'lasts', version: 1, fields: {} }
const MESSAGES = 'messages'

const WATCH: Rule = {
  sensors: [
    { label: 'count', name: 'count', version: '1.0.0', resource: '$' },
    { label: 'heard', name: 'heard', version: '1.0.0', resource: '$' },
  ],
  task: { type: 'reactive' },
}
const watch = () => runnableOf('a', WATCH, { resource: 'boiler' })

const lasts = (life: Life) => life.storage.tenant(TENANT).collection(LASTS)
const log = (life: Life): Log => life.storage.tenant(TENANT).log(MESSAGES)
const bodies = async (life: Life) => (await log(life).read(0)).map(({ body }) => body)
const writesOf = (life: Life, level: number, expect?: number | 'absent') => [
  log(life).appending([{ level }]),
  lasts(life).putting('boiler', { level }, expect),
]
const receive = (life: Life, level: number, expect?: number | 'absent') =>
  life.runner.intake.receive([{ messages: { resource: 'boiler', level } }], writesOf(life, level, expect))
const seen = (life: Life, label = 'count') => life.runner.nodes.view('a', label)[0]?.rawData

async function begun(ground: Ground): Promise<Life> {
  const life = ground.open()
  await life.begin(watch())
  return life
}

describe('writes that come with messages', () => {
  it('are committed with them, and the caller receives their results in order', async () => {
    const life = await begun(new Ground())
    const before = life.commits
    const all = await Promise.all([
      receive(life, 1),
      receive(life, 2),
      life.send('boiler', { level: 3 }),
      receive(life, 4),
    ])
    expect(life.commits - before, 'one for each call: the store gathers').toBe(4)
    expect(all).toEqual([
      { taken: true, results: [1, 1] },
      { taken: true, results: [2, 2] },
      true,
      { taken: true, results: [3, 3] },
    ])
    expect(await bodies(life)).toEqual([{ level: 1 }, { level: 2 }, { level: 4 }])
    expect(seen(life)).toEqual({ seen: 4 })
    await life.close()
  })

  it('are committed in order when no task takes the messages', async () => {
    const life = await begun(new Ground())
    const nobody = (level: number) =>
      life.runner.intake.receive([{ messages: { resource: 'pump', level } }], writesOf(life, level))
    const all = await Promise.all([receive(life, 1), nobody(2), receive(life, 3), nobody(4)])
    expect(all.map(({ taken }) => taken)).toEqual([true, false, true, false])
    expect(all.map(({ results }) => results)).toEqual([1, 2, 3, 4].map((n) => [n, n]))
    expect(await bodies(life)).toEqual([1, 2, 3, 4].map((level) => ({ level })))
    expect(life.runner.queued).toBe(0)
    await life.close()
  })

  it('are committed concurrently when no task takes the messages and none is in flight', async () => {
    const life = await begun(new Ground())
    await life.rest()
    const nobody = (level: number) =>
      life.runner.intake.receive([{ messages: { resource: 'pump', level } }], writesOf(life, level))
    const before = life.commits
    const all = [nobody(1), nobody(2)]
    for (let i = 0; i < 10; i++) await Promise.resolve()
    expect(life.commits - before, 'both are under way within one turn').toBe(2)
    expect((await Promise.all(all)).map(({ results }) => results)).toEqual([
      [1, 1],
      [2, 2],
    ])
    await life.close()
  })

  it('of several posts share one commit, and each post is its own invocation', async () => {
    const life = await begun(new Ground())
    const before = life.commits
    const post = (resource: string, level: number) => ({ messages: { resource, level } })
    const writes = [log(life).appending([{ level: 1 }, { level: 2 }])]
    const posts = [post('boiler', 1), post('pump', 2), post('boiler', 3)]
    const all = await Promise.all([
      life.runner.intake.receive(posts, writes),
      life.runner.intake.receive([post('pump', 4)], writesOf(life, 3)),
      life.runner.intake.receive([], []),
    ])
    expect(all.map(({ results }) => results)).toEqual([[2], [3, 1], []])
    expect(life.commits - before, 'one for each call').toBe(2)
    expect(seen(life)).toEqual({ seen: 2 })
    await expect(
      life.runner.intake.receive([post('boiler', 5), post('boiler', 6)], writesOf(life, 5, 'absent')),
    ).rejects.toMatchObject({ code: 'CONFLICT' })
    expect(seen(life), 'none of the posts was taken').toEqual({ seen: 2 })
    await life.close()
  })

  it('are committed without any task, and time continues afterwards', async () => {
    const ground = new Ground()
    const life = ground.open()
    expect(await receive(life, 1)).toEqual({ taken: false, results: [1, 1] })
    expect(await life.runner.intake.receive([{ messages: { resource: 'pump' } }])).toEqual({
      taken: false,
      results: [],
    })
    await life.begin(
      runnableOf(
        'c',
        { sensors: [{ label: 'count', name: 'count', version: '1.0.0' }] },
        { type: 'periodic', frequency: 10 },
      ),
    )
    await receive(life, 2)
    await life.to(100)
    expect(life.runner.nodes.info('c')?.invocationCount).toBe(11)
    await life.close()
  })

  it('that conflict are rejected with their message, by its index; others are accepted', async () => {
    const life = await begun(new Ground())
    const all = await Promise.allSettled([
      receive(life, 1),
      receive(life, 2, 'absent'),
      receive(life, 3),
      receive(life, 4),
    ])
    expect(all.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled'])
    expect(all[1]).toMatchObject({ reason: { code: 'CONFLICT', issues: [{ path: '/1' }] } })
    expect(await bodies(life)).toEqual([{ level: 1 }, { level: 3 }, { level: 4 }])
    expect(seen(life)).toEqual({ seen: 3 })
    await life.close()
  })

  it('are discarded when the process is killed before the commit, and applied once after it', async () => {
    const ground = new Ground()
    const first = await begun(ground)
    await first.crash()
    const second = ground.open({ commits: 2 })
    await second.runner.resume([watch()])
    await expect(receive(second, 1)).rejects.toBeDefined()
    await second.crash()
    const third = ground.open()
    await third.runner.resume([watch()])
    expect([await bodies(third), seen(third)]).toEqual([[], undefined])
    await receive(third, 2)
    await third.crash()
    const fourth = ground.open()
    await fourth.runner.resume([watch()])
    expect([await bodies(fourth), seen(fourth)]).toEqual([[{ level: 2 }], { seen: 1 }])
    await fourth.close()
  })

  it('are rejected with invalid messages, channels or hops', async () => {
    const life = await begun(new Ground())
    const writes = writesOf(life, 1)
    const { intake } = life.runner
    for (const refused of [
      intake.receive([{ messages: { level: 1 } as never }], writes),
      intake.receive([{ messages: [{ resource: 'boiler' }, 7] as never }], writes),
      intake.receive([{ messages: { resource: 'boiler' }, channel: 'A' }], writes),
      intake.receive([{ messages: { resource: 'boiler' }, hops: -1 }], writes),
    ]) {
      await expect(refused).rejects.toMatchObject({ code: 'VALIDATION' })
    }
    expect(await bodies(life)).toEqual([])
    await life.close()
  })

  it('are rejected when the runner is closed', async () => {
    const life = await begun(new Ground())
    await life.runner.close()
    await expect(receive(life, 1)).rejects.toMatchObject({ code: 'CLOSED' })
  })
})

describe('a message on a channel', () => {
  const ALARM = { channel: 'alarm', hops: 2, root: 'other/1/1/0' }

  it('runs only the sensor of its channel, and again after a crash', async () => {
    const ground = new Ground()
    const first = await begun(ground)
    expect(await first.send('boiler', { level: 5 }, ALARM)).toBe(true)
    expect(await first.send('boiler', { level: 6 }, { channel: 'command' })).toBe(false)
    expect(await first.send('pump', { level: 7 }, ALARM)).toBe(false)
    const shown = [{ level: 5, hops: 2 }, undefined]
    expect([seen(first, 'heard'), seen(first)]).toEqual(shown)
    await first.crash()
    const second = ground.open()
    await second.runner.resume([watch()])
    expect([seen(second, 'heard'), seen(second)]).toEqual(shown)
    await second.send('boiler', { level: 8 })
    expect([seen(second, 'heard'), seen(second)]).toEqual([{ level: 5, hops: 2 }, { seen: 1 }])
    await second.close()
  })

  it('passes its hops to a call in progress, and to its repetition', async () => {
    const ground = new Ground()
    const led: unknown[] = []
    const tell = definePlug({
      name: 'tell',
      version: '1.0.0',
      kind: 'actuator',
      execute: (context) => {
        led.push([context.hops, context.root])
        return new Promise<undefined>(() => undefined)
      },
    })
    const rule: Rule = {
      ...WATCH,
      actuators: [{ label: 'tell', name: 'tell', version: '1.0.0' }],
      triggers: [{ sourceLabel: 'heard', destinationLabel: 'tell', statesTrigger: ['HEARD'] }],
    }
    const plugs = [...ground.outside.plugs, tell]
    const task = runnableOf('a', rule, { resource: 'boiler' })
    const first = ground.open({ plugs })
    await first.begin(task)
    await first.send('boiler', { level: 5 }, ALARM)
    await first.crash()
    const second = ground.open({ plugs })
    await second.runner.resume([task])
    await second.rest()
    expect(led).toEqual([
      [2, 'other/1/1/0'],
      [2, 'other/1/1/0'],
    ])
    await second.crash()
  })
})
