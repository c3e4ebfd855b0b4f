/** Handles one request of a benchmark in a separate process, then exits. */
import { readFileSync } from 'node:fs'
import { AppError, messageOf } from '#kernel'
import type { Message } from '#core'
import { loadPlugs } from '#host/load-plugs'
import { Firings, stampOf, weightOf } from './firings.ts'
import { measureLatency, measureRate } from './measure.ts'
import type { BenchAnswer, BenchRequest, BenchSamples, BenchWork, CheckSample } from './request.ts'
import {
  actuatorFiring,
  type Driven,
  engineDriven,
  Feed,
  limitAt,
  limitDriven,
  listenedTo,
  tasksOf,
} from './subject.ts'

const LOOKED_AT = 20_000
const MAX_NAMES = 5

process.once('message', (request: BenchRequest) => void answer(request))
// the parent process has ended
process.once('disconnect', () => process.exit(0))

async function answer(request: BenchRequest): Promise<void> {
  let answer: BenchAnswer
  try {
    answer = { sample: await sampleOf(request) }
  } catch (error) {
    const code = error instanceof AppError ? error.code : 'INTERNAL'
    answer = { code, message: messageOf(error) }
  }
  // handles left open by plugs would keep the process alive
  process.send?.(answer, () => process.exit(0))
}

async function sampleOf(request: BenchRequest): Promise<BenchSamples[BenchRequest['kind']]> {
  const { work } = request
  const plugs = await loadPlugs(work.plugs)
  const feed = new Feed(messagesOf(work), work.resource, work.copies)
  if (request.kind === 'check') return check(work, plugs, feed)
  if (request.kind === 'latency')
    return measureLatency(await engineDriven(work, plugs, feed), feed, request.rate, request.measureMs)
  return measureRate(await driven(request, plugs, feed), feed, request.measureMs)
}

async function driven(
  { work, who, index }: Extract<BenchRequest, { kind: 'rate' }>,
  plugs: Awaited<ReturnType<typeof loadPlugs>>,
  feed: Feed,
): Promise<Driven> {
  if (who !== 'limit') return listenedTo(await engineDriven(work, plugs, feed), who)
  let firings = 0
  return limitDriven(limitAt(await tasksOf(work, plugs, feed), index), () => firings++)
}

async function check(work: BenchWork, plugs: Awaited<ReturnType<typeof loadPlugs>>, feed: Feed): Promise<CheckSample> {
  const tasks = await tasksOf(work, plugs, feed)
  const at = { stamp: 0 }
  const weight = (task: number, slot: number) => weightOf(task * tasks.actuators.size + slot)
  const engine = await engineDriven(work, plugs, feed)
  const fired = new Firings(at)
  engine.engine.events$.subscribe((event) => {
    const firing = actuatorFiring(event, tasks)
    if (firing !== undefined) fired.add(weight(firing.task, firing.slot))
  })
  const count = Math.min(LOOKED_AT, feed.length)
  const others = new Set<string>()
  let unheard = 0
  const cursor = feed.cursor()
  for (let i = 0; i < count; i++, cursor.next()) {
    at.stamp = stampOf(i)
    if (!engine.isHeard(cursor.message, cursor.time)) {
      unheard++
      if (others.size < MAX_NAMES) others.add(cursor.message.resource)
    }
    if (engine.open > 0) await engine.settled()
  }
  const survey = { messages: feed.length, lookedAt: count, unheard, others: [...others], firings: fired.count }
  if ('reason' in tasks.limits) return { ...survey, limits: tasks.limits }
  for (const limit of tasks.limits) {
    const own = new Firings(at)
    const { take } = limitDriven(limit, (task, slot) => own.add(weight(task, slot)))
    const again = feed.cursor()
    for (let i = 0; i < count; i++, again.next()) {
      at.stamp = stampOf(i)
      take(again.message, again.time)
    }
    if (own.count !== fired.count || own.sum !== fired.sum) {
      const reason = `the generated loop fired ${own.count} times, and the engine fired ${fired.count} times`
      return { ...survey, limits: { reason } }
    }
  }
  return { ...survey, limits: tasks.limits.map(({ name, source }) => ({ name, source })) }
}

function messagesOf({ messagesFile }: BenchWork): readonly Message[] {
  const lines = readFileSync(messagesFile, 'utf8').split('\n')
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Message)
}
