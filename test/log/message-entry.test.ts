/** A message is in the log once, for tasks, series and streams alike (LOG-1). */
import { expect, it } from 'vitest'
import { isInput, isKept, LOG_NAME, messagesOfEntry } from '../../src/log/message-entry.ts'
import { TenantLog } from '../../src/log/tenant-log.ts'
import { parseWritten } from '../../src/kernel/written-integers.ts'
import { engineIntake } from '../../src/host/wiring/engine-intake.ts'
import { createBrokerService } from '../../src/services/broker/service.ts'
import { inputOf, messagesOf } from '../../src/services/rules/durable/input.ts'
import { openMemory } from '../../src/storage/memory/open-memory.ts'
import { Life, Outside, runnableOf, TENANT } from '../services/rules/durable/support/lives.ts'

const NOW = 1_800_000_000_000
const RULE = {
  sensors: [{ label: 'level', name: 'level', version: '1.0.0', resource: '$' }],
  task: { type: 'reactive' as const },
}

it('has an entry for each post, which says whether tasks, series and streams follow it', async () => {
  const storage = openMemory()
  const log = new TenantLog(storage.tenant(TENANT))
  const life = new Life(storage, new Outside(), { at: NOW, log })
  const broker = createBrokerService({
    tenant: TENANT,
    store: storage.tenant(TENANT),
    log,
    now: () => NOW,
    lag: { restMs: 0 },
    engine: () => engineIntake(life.runner.intake),
  })
  await life.begin(runnableOf('a', RULE, { resource: 'heard' }))
  const { last: before } = await storage.tenant(TENANT).log(LOG_NAME).bounds()
  const { posting, series } = broker.as({ tenant: TENANT, user: 'tester' })
  await posting.events('heard', { level: 1 })
  await posting.events('other', { level: 2 }, { ttl: '1d' })
  await posting.events('heard', { level: 3 }, { store: false })
  await posting.events('heard', { level: 4 }, { forward: false })
  await posting.events(undefined, [
    { resource: 'heard', level: 5 },
    { resource: 'other', level: 6 },
  ])
  await posting.events('heard', [{ level: 7 }, { level: 8 }])
  await posting.command('heard', { name: 'on' })
  await posting.events('other', { level: 9 }, { store: false })
  const entries = await storage.tenant(TENANT).log(LOG_NAME).read(before)
  const told = entries.map(({ body }) => {
    const input = inputOf(body)
    return {
      tasks: input?.k === 'data' ? messagesOf(input.m).map(({ level }) => level) : [],
      streams: [...messagesOfEntry(body)].map(({ channel, message }) => `${channel} ${String(message['level'])}`),
      isKept: isKept(body),
      isInput: isInput(body),
    }
  })
  expect(told).toEqual([
    { tasks: [1], streams: ['events 1'], isKept: true, isInput: true },
    { tasks: [], streams: ['events 2'], isKept: true, isInput: false },
    { tasks: [3], streams: [], isKept: false, isInput: true },
    { tasks: [], streams: ['events 4'], isKept: true, isInput: false },
    { tasks: [5, 6], streams: ['events 5', 'events 6'], isKept: true, isInput: true },
    { tasks: [], streams: [], isKept: true, isInput: false },
    { tasks: [], streams: ['commands undefined'], isKept: true, isInput: false },
  ])
  expect(await series.list('heard')).toMatchObject([{ metric: 'level', value: 8 }])
  await broker.stop()
  await life.runner.close()
})

it('keeps the digits of whole numbers that no number keeps, and tasks get the message without them', async () => {
  const storage = openMemory()
  const broker = createBrokerService({
    tenant: TENANT,
    store: storage.tenant(TENANT),
    now: () => NOW,
    lag: { restMs: 0 },
  })
  const { posting } = broker.as({ tenant: TENANT, user: 'tester' })
  await posting.events('r', parseWritten('{"level":1,"serial":12345678901234567890}'))
  const [entry] = await storage.tenant(TENANT).log(LOG_NAME).read(0)
  expect([...messagesOfEntry(entry?.body ?? null)].map(({ text }) => text)).toEqual([
    `{"level":1,"serial":12345678901234567890,"timestamp":${NOW}}`,
  ])
  await broker.stop()
})
