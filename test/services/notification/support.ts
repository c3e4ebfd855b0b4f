/** Notification of one tenant over a store in memory, with real alarms and calendars, recorded channels and a virtual clock. */
import { Alarms } from '../../../src/services/alarms/service.ts'
import type { AlarmsApi } from '../../../src/services/alarms/contract.ts'
import { Calendars } from '../../../src/services/calendars/service.ts'
import type { CalendarsApi } from '../../../src/services/calendars/contract.ts'
import type { ChannelPorts, NotificationApi } from '../../../src/services/notification/contract.ts'
import { Notifications } from '../../../src/services/notification/service.ts'
import { LinkSigner } from '../../../src/services/notification/signed-link.ts'
import type { Storage } from '../../../src/storage/contract.ts'
import { openMemory } from '../../../src/storage/memory/open-memory.ts'

/** a Monday */
export const NOON = Date.UTC(2026, 10, 23, 12)
export const CALLER = { tenant: 'acme', user: 'tester' }

export interface Sent {
  readonly over: 'mail' | 'post' | 'publish'
  readonly id: string
  readonly to: string
  readonly content: string
}

export interface NotificationBench {
  readonly clock: { now: number }
  readonly alarms: Alarms
  readonly raise: AlarmsApi
  readonly calendars: CalendarsApi
  readonly service: Notifications
  readonly api: NotificationApi
  readonly storage: Storage
  /** what channels accepted */
  readonly sent: Sent[]
  /** called before each sending; may throw or hang */
  hook: (sent: Sent, signal: AbortSignal) => Promise<void> | void
  /** turns of the event loop that a wait for the end of work takes at most; fewer while a channel hangs */
  patience: number
  /** Moves the clock, runs what is due, and waits for its end. */
  advance(ms: number): Promise<void>
  /** Starts another service on the same store, as after a crash. */
  restart(): Promise<void>
  stop(): Promise<void>
}

export async function notificationBench(storage: Storage = openMemory()): Promise<NotificationBench> {
  const clock = { now: NOON }
  const now = (): number => clock.now
  const store = storage.tenant('acme')
  let id = 0
  const logger = { warn: () => undefined, error: (text: string) => void errors.push(text) }
  const errors: string[] = []
  const timers = new Set<{ readonly at: number; readonly work: () => void }>()
  const later = (ms: number, work: () => void): (() => void) => {
    const timer = { at: clock.now + ms, work }
    timers.add(timer)
    return () => timers.delete(timer)
  }
  const sent: Sent[] = []
  const take = async (one: Sent, signal: AbortSignal): Promise<void> => {
    await bench.hook(one, signal)
    sent.push(one)
  }
  const ports: ChannelPorts = {
    mail: async ({ id: mail, to, subject, text }, signal) => {
      await take({ over: 'mail', id: mail, to: to.join(','), content: `${subject}\n${text}` }, signal)
      return '250 accepted'
    },
    post: async ({ url, headers, body }, signal) => {
      await take({ over: 'post', id: headers['Idempotency-Key'] ?? '', to: url, content: body }, signal)
      return { status: 200, body: 'ok' }
    },
    publish: ({ id: publication, topic, value }, signal) =>
      take({ over: 'publish', id: publication, to: topic, content: JSON.stringify(value) }, signal),
  }
  const alarms = new Alarms({ tenant: 'acme', store, now, newId: () => `a${++id}`, logger })
  await alarms.start()
  const calendars = new Calendars({ store, now })
  const make = (): Notifications =>
    new Notifications({
      tenant: 'acme',
      store,
      alarms: () => alarms,
      calendars: () => calendars,
      vault: () => undefined,
      ports,
      links: new LinkSigner(new Uint8Array(32)),
      addressOf: (path) => `https://iot.example.com${path}`,
      now,
      newId: () => `n${++id}`,
      later,
      logger,
    })
  let service = make()
  await service.start()
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 3; turn++) {
      await alarms.idle()
      for (const timer of [...timers].filter(({ at }) => at <= clock.now)) {
        timers.delete(timer)
        timer.work()
      }
      // a channel that hangs does not end
      await patiently(service.idle(), bench.patience)
    }
    if (errors.length > 0) throw new Error(errors.join('\n'))
  }
  const bench: NotificationBench = {
    clock,
    alarms,
    raise: alarms.as(CALLER),
    calendars: calendars.as(CALLER),
    get service() {
      return service
    },
    get api() {
      return service.as(CALLER)
    },
    storage,
    sent,
    hook: () => undefined,
    patience: 3_000,
    advance: async (ms) => {
      const end = clock.now + ms
      await settle()
      for (;;) {
        const next = Math.min(...[...timers].map(({ at }) => at).filter((at) => at > clock.now), end)
        // the look at the log every 100 ms is left out of long waits
        clock.now = next - clock.now <= 100 && end - clock.now > 1_000 ? Math.min(end, clock.now + 1_000) : next
        await settle()
        if (clock.now >= end) return
      }
    },
    restart: async () => {
      await service.stop()
      timers.clear()
      service = make()
      await service.start()
    },
    stop: async () => {
      await service.stop()
      await alarms.stop()
    },
  }
  return bench
}

export const ALARM = { source: { id: 'boiler-1', line: '3' }, type: 'HOT', text: '93 degrees', severity: 'MAJOR' }
export const MAIL = { channels: [{ type: 'email', to: ['ann@example.com'] }] }

/** Resolves when the work has ended, or after a number of turns of the event loop. */
async function patiently(work: Promise<void>, most: number): Promise<void> {
  const state = { hasEnded: false }
  void work.then(() => (state.hasEnded = true))
  for (let i = 0; i < most && !state.hasEnded; i++) await new Promise((resolve) => setImmediate(resolve))
}
