/** Tests what every runner must preserve across a crash, on any medium. */
import { setImmediate } from 'node:timers/promises'
import { expect, it } from 'vitest'
import type { Rule } from '../../../../../src/index.ts'
import { runnableOf, TENANT, type AnyGround, type Life } from './lives.ts'

const LEVEL: Rule = {
  sensors: [
    { label: 'level', name: 'level', version: '1.0.0', resource: '$', position: [0, 0] },
    { label: 'heard', name: 'heard', version: '1.0.0', resource: '$' },
  ],
  actuators: [
    {
      label: 'send',
      name: 'send',
      version: '1.0.0',
      retryConfig: { maxRetries: 1, minBackoff: 'PT10S', maxBackoff: 'PT10S' },
    },
  ],
  triggers: [{ sourceLabel: 'level', destinationLabel: 'send', statesTrigger: ['HIGH'], invocationPolicy: 0 }],
  task: { type: 'reactive' },
}
const watch = () => runnableOf('a', LEVEL, { resource: 'boiler' })

/** Continues in another process. */
async function again(ground: AnyGround, before: Life, at = 0): Promise<Life> {
  await before.crash()
  const after = await ground.open({ at })
  await after.runner.resume([watch()])
  await after.rest()
  return after
}

export function survives(newGround: () => AnyGround): void {
  it('keeps acknowledged input, although no state was stored', async () => {
    const ground = newGround()
    const before = await ground.open({ checkpointMs: 1e9 })
    await before.begin(watch())
    expect(await before.send('boiler', { level: 12 })).toBe(true)
    await before.rest()
    const seen = before.look('a')
    const after = await again(ground, before)
    expect(after.look('a')).toEqual(seen)
    expect(after.look('a')).toMatchObject({ info: { status: 'running', invocationCount: 1 } })
    expect(ground.outside.calls).toEqual(['a/1/2/0'])
    await after.close()
  })

  it('keeps acknowledged input after states were stored', async () => {
    const ground = newGround()
    const before = await ground.open({ checkpointMs: 10 })
    await before.begin(watch())
    await before.send('boiler', { level: 12 })
    await before.to(100)
    await before.send('boiler', { level: 3 })
    await before.rest()
    const seen = before.look('a')
    const after = await again(ground, before, 100)
    expect(after.look('a')).toEqual(seen)
    expect(ground.outside.calls).toEqual(['a/1/2/0'])
    await after.close()
  })

  it('resumes portions in order, also when they are requested concurrently', async () => {
    const ground = newGround()
    const before = await ground.open({ checkpointMs: 1e9 })
    const names = ['a', 'b', 'c', 'd', 'e']
    const tasks = names.map((name) => runnableOf(name, LEVEL, { resource: `boiler ${name}` }))
    for (const task of tasks) await before.begin(task)
    for (const name of names) await before.send(`boiler ${name}`, { level: 12 })
    await before.rest()
    const seen = names.map((name) => before.look(name))
    await before.crash()
    // the first one waits longest
    const recalling = async ([name = '']: readonly string[]) => {
      const turns = 10 * (names.length - names.indexOf(name))
      for (let turn = 0; turn < turns; turn++) await setImmediate()
    }
    const after = await ground.open({ at: 0, recalling })
    await Promise.all(tasks.map((task) => after.runner.resume([task])))
    await after.rest()
    expect(names.map((name) => after.look(name))).toEqual(seen)
    const log = await after.storage.tenant(TENANT).log('log').read(0)
    const resumed = log.flatMap(({ body }) => (body as { ts?: readonly string[] }).ts ?? [])
    expect(resumed).toEqual(names)
    expect(ground.outside.calls).toEqual(names.map((name) => `${name}/1/2/0`))
    await after.close()
  })

  it('acknowledges nothing when no running task takes it', async () => {
    const life = await newGround().open()
    expect(await life.send('boiler', { level: 12 })).toBe(false)
    await life.begin(watch())
    expect(await life.send('other', { level: 12 })).toBe(false)
    expect(await life.send('boiler', { level: 12 })).toBe(true)
    await life.end('a')
    expect(await life.send('boiler', { level: 12 })).toBe(false)
    expect(life.runner.nodes.info('a')?.status).toBe('stopped')
    expect(await life.storage.tenant(TENANT).log('log').bounds()).toMatchObject({ last: 5 })
    await life.close()
  })

  it('keeps messages, their writes, and their origin', async () => {
    const ground = newGround()
    const before = await ground.open({ checkpointMs: 1e9 })
    await before.begin(watch())
    const log = before.storage.tenant(TENANT).log('messages')
    const given = await Promise.all(
      [1, 2].map((level) =>
        before.runner.intake.receive(
          [{ messages: { resource: 'boiler', level }, channel: 'alarm', hops: level }],
          [log.appending([{ level }])],
        ),
      ),
    )
    expect(given).toEqual([1, 2].map((position) => ({ taken: true, results: [position] })))
    const after = await again(ground, before)
    expect(after.runner.nodes.view('a', 'heard')[0]?.rawData).toEqual({ level: 2, hops: 2 })
    const kept = await after.storage.tenant(TENANT).log('messages').read(0)
    expect(kept.map(({ body }) => body)).toEqual([{ level: 1 }, { level: 2 }])
    await after.close()
  })

  it('repeats a call that was in progress, under its id, and retries a failed one on time', async () => {
    const ground = newGround()
    ground.outside.answersAtOnce = false
    const before = await ground.open()
    await before.begin(watch())
    await before.send('boiler', { level: 12 })
    await before.rest()
    const between = await again(ground, before, 1000)
    expect(ground.outside.calls).toEqual(['a/1/2/0', 'a/1/2/0'])
    ground.outside.answer('a/1/2/0', 'busy')
    await expect.poll(async () => (await deliveriesOf(between))[0]?.status).toBe('retrying')
    const after = await again(ground, between, 4000)
    await after.to(10_999)
    expect(ground.outside.calls).toHaveLength(2)
    await after.to(11_000)
    expect(ground.outside.calls).toHaveLength(3)
    ground.outside.answer('a/1/2/0')
    await expect.poll(() => deliveriesOf(after)).toMatchObject([{ id: 'a/1/2/0', status: 'delivered', attempts: 2 }])
    await after.close()
  })
}

const deliveriesOf = (life: Life) => life.runner.nodes.deliveries('a', { limit: 10 })
