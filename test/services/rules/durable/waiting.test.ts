/** Tests the queue of a task across a crash, and states too large for one document. */
import { describe, expect, it } from 'vitest'
import { definePlug, type Plug, type Rule } from '../../../../src/index.ts'
import { STATES } from '../../../../src/services/rules/durable/records.ts'
import { STATE_PARTS } from '../../../../src/services/rules/durable/stored-states.ts'
import { Ground, runnableOf, TENANT, type Life } from './support/lives.ts'

/** Creates a sensor that answers when the test lets it, and an actuator that records its inputs. */
function slow(): { plugs: Plug[]; open: (() => void)[]; seen: number[] } {
  const open: (() => void)[] = []
  const seen: number[] = []
  const plugs = [
    definePlug({
      name: 'slow',
      version: '1.0.0',
      kind: 'sensor',
      states: ['SEEN'],
      execute: (context) =>
        new Promise<'SEEN'>((resolve) => void open.push(() => resolve('SEEN'))).then((state) => ({
          state,
          rawData: { level: context.streamValue('level') },
        })),
    }),
    definePlug({
      name: 'count',
      version: '1.0.0',
      kind: 'actuator',
      input: { level: { type: 'double', mandatory: true } },
      execute: ({ properties }) => void seen.push(properties.level),
    }),
  ]
  return { plugs, open, seen }
}

const SLOW: Rule = {
  sensors: [{ label: 's', name: 'slow', resource: 'r' }],
  actuators: [{ label: 'a', name: 'count', properties: { level: '${nodes.s.rawData.level}' } }],
  triggers: [{ sourceLabel: 's', destinationLabel: 'a' }],
}

async function answerAll(life: Life, open: (() => void)[]): Promise<void> {
  for (let next = open.shift(); next !== undefined; next = open.shift()) {
    next()
    await life.rest()
  }
}

describe('messages in the queue at a crash', () => {
  it.each([
    ['are in the log, when no state was stored', undefined],
    ['are in the log, when states were stored meanwhile', 10],
  ])('%s', async (_fact, checkpointMs) => {
    const ground = new Ground()
    const { plugs, open, seen } = slow()
    const more = checkpointMs === undefined ? {} : { checkpointMs }
    const first = ground.open({ plugs, ...more })
    const task = runnableOf('t', SLOW)
    await first.begin(task)
    for (let level = 0; level < 20; level++) await first.send('r', { level })
    for (let i = 0; i < 3; i++) {
      open.shift()?.()
      await first.rest()
    }
    await first.to(100)
    await first.send('r', { level: 20 })
    await first.to(200)
    const record = await first.storage.tenant(TENANT).collection(STATES).get('t')
    if (checkpointMs !== undefined) {
      // referenced by their positions in the log, not copied
      const waiting = record?.value.state?.waiting ?? []
      expect(waiting).toHaveLength(17)
      expect(JSON.stringify(waiting)).not.toContain('level')
    }
    await first.crash()
    open.length = 0

    const second = ground.open({ plugs, at: 1000, ...more })
    await second.runner.resume([task])
    await second.rest()
    await answerAll(second, open)
    // an actuator that answers at once is called again when its input is replayed
    expect([...new Set(seen)]).toEqual(Array.from({ length: 21 }, (_, level) => level))
    expect(second.runner.nodes.info('t')).toMatchObject({ invocationCount: 21, health: { dropped: 0 } })
    await second.close()
  })
})

describe('too many waiting messages in all tasks', () => {
  it('cause posts to be rejected until the tasks have caught up', async () => {
    const { plugs, open, seen } = slow()
    const life = new Ground().open({ plugs, maxWaitingMessages: 3 })
    await life.begin(runnableOf('t', SLOW))
    // one is at the plug, three wait
    for (let level = 0; level < 4; level++) await life.send('r', { level })
    expect(life.runner.waiting).toBe(3)
    await expect(life.send('r', { level: 4 })).rejects.toMatchObject({ code: 'RATE_LIMITED', status: 429 })
    await answerAll(life, open)
    expect(life.runner.waiting).toBe(0)
    await life.send('r', { level: 5 })
    await answerAll(life, open)
    expect(seen).toEqual([0, 1, 2, 3, 5])
    await life.close()
  })
})

/** Keeps everything it has seen, until its state exceeds a document. */
const HOARD = definePlug({
  name: 'hoard',
  version: '1.0.0',
  kind: 'sensor',
  states: ['SEEN'],
  execute: (context) => {
    const before = Array.isArray(context.internalState) ? (context.internalState as string[]) : []
    const kept = [...before, String(context.streamValue('text'))]
    return { state: 'SEEN', internalState: kept, rawData: { count: kept.length } }
  },
})
const HOARDING: Rule = { sensors: [{ label: 's', name: 'hoard', resource: 'r' }] }

describe('a state that exceeds the size of a document', () => {
  it('is stored in parts, survives a crash, and shrinks again', async () => {
    const ground = new Ground()
    const task = runnableOf('t', HOARDING)
    const first = ground.open({ plugs: [HOARD], checkpointMs: 10 })
    await first.begin(task)
    const text = '"ä\\'.repeat(20_000)
    for (let i = 0; i < 30; i++) {
      await first.send('r', { text: `${i}${text}` })
      await first.to((i + 1) * 100)
    }
    const store = first.storage.tenant(TENANT)
    expect((await store.collection(STATES).get('t'))?.value.parts).toBeGreaterThan(1)
    expect(first.runner.trouble).toBeUndefined()
    await first.crash()

    const second = ground.open({ plugs: [HOARD], checkpointMs: 10, at: 5000 })
    await second.runner.resume([task])
    await second.rest()
    expect(second.look('t')).toMatchObject({ view: [{ rawData: { count: 30 } }] })
    await second.begin({ ...task, epoch: 2 })
    await second.send('r', { text: 'x' })
    await second.to(6000)
    const again = second.storage.tenant(TENANT)
    expect((await again.collection(STATES).get('t'))?.value.parts).toBeUndefined()
    expect(await again.collection(STATE_PARTS).count()).toBe(0)
    await second.close()
  })

  it('leaves nothing when its task is deleted', async () => {
    const ground = new Ground()
    const life = ground.open({ plugs: [HOARD], checkpointMs: 10 })
    await life.begin(runnableOf('t', HOARDING))
    for (let i = 0; i < 5; i++) await life.send('r', { text: 'x'.repeat(400_000) })
    await life.to(100)
    const store = life.storage.tenant(TENANT)
    expect(await store.collection(STATE_PARTS).count()).toBeGreaterThan(1)
    await life.end('t')
    await life.forget('t')
    await life.to(200)
    expect(await store.collection(STATE_PARTS).count()).toBe(0)
    expect(await store.collection(STATES).count()).toBe(0)
    await life.close()
  })
})
