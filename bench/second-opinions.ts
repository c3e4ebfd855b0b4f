/**
 * `npm run bench -- second-opinions [seed] [cases]`: what croner and rrule-temporal say about random expressions in random
 * zones and years, beside what this library says. Every difference is printed with the class that explains it; the exit
 * code is 1 when one is left without.
 */
import { parseSchedule, type Schedule } from '../src/index.ts'
import { explainDifference, type Difference } from './second-opinions/explain.ts'
import { randomCron, randomRule, type Random } from './second-opinions/random-expressions.ts'
import { ensurePeers } from './peers.ts'
import { scheduleSubjects } from './second-opinions/peers.ts'

const ZONES = [
  'Europe/Brussels',
  'Europe/Dublin',
  'America/New_York',
  'America/Sao_Paulo',
  'America/St_Johns',
  'Australia/Lord_Howe',
  'Asia/Tehran',
  'Asia/Kolkata',
  'Africa/Casablanca',
  'Pacific/Auckland',
  'Pacific/Apia',
  'UTC',
]
const COUNT = 60
const POLICIES = (['shift', 'skip'] as const).flatMap((gap) =>
  (['first', 'second', 'both'] as const).map((overlap) => ({ gap, overlap })),
)

/** Gives the exit code. */
export async function secondOpinions(seed = 1, cases = 400): Promise<number> {
  ensurePeers()
  const random = randomFrom(seed)
  const classes = new Map<string, number>()
  let occurrences = 0
  let unexplained = 0
  for (let i = 0; i < cases; i++) {
    const kind = random(2) === 0 ? 'cron' : 'rrule'
    const expression = kind === 'cron' ? randomCron(random) : randomRule(random)
    const zone = ZONES[random(ZONES.length)] ?? 'UTC'
    const from = Date.UTC(2000 + random(37), random(12), 1 + random(28), 12)
    const schedules = [{}, ...POLICIES].map((dst): Schedule => {
      const common = { type: 'scheduled', start: from, timeZone: zone, dst } as const
      return parseSchedule(kind === 'cron' ? { ...common, cron: expression } : { ...common, rrule: expression })
    })
    const peer = kind === 'cron' ? 'croner' : 'rrule-temporal'
    const theirs = await opinion(peer, expression, from, zone)
    const where = `${peer}  ${expression}  ${zone} from ${new Date(from).toISOString()}`
    const found = Array.isArray(theirs)
      ? explainDifference(schedules, theirs, { expression, from, zone })
      : [refusal(theirs)]
    occurrences += Array.isArray(theirs) ? theirs.length : 0
    for (const { what, explanation } of found) {
      process.stdout.write(`${explanation ?? 'UNEXPLAINED'}\n  ${where}\n  ${what}\n`)
      const name = `${peer}: ${explanation ?? 'UNEXPLAINED'}`
      classes.set(name, (classes.get(name) ?? 0) + 1)
      if (explanation === undefined) unexplained++
    }
  }
  process.stdout.write(`\n${cases} expressions, ${occurrences} occurrences, seed ${seed}\n`)
  for (const [name, count] of [...classes].toSorted(([a], [b]) => (a < b ? -1 : 1)))
    process.stdout.write(`  ${count}  ${name}\n`)
  process.stdout.write(unexplained === 0 ? 'nothing is unexplained\n' : `${unexplained} UNEXPLAINED\n`)
  return unexplained === 0 ? 0 : 1
}

async function opinion(peer: string, expression: string, from: number, zone: string): Promise<number[] | string> {
  try {
    const occurrences = await scheduleSubjects.get(peer)?.(expression, from, zone)
    return occurrences === undefined ? `there is no ${peer}` : occurrences(COUNT).filter((at) => at > from)
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

function refusal(message: string): Difference {
  return { what: message, explanation: undefined }
}

/** Whole numbers below a bound: mulberry32. */
function randomFrom(seed: number): Random {
  let state = seed | 0
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below)
  }
}
