/** Services of the host on SQLite, by the clock. */
import { digits, median, megabytes, rate } from '../figures.ts'
import { measurement, middle, type LinePlan } from '../measurement.ts'
import type { AccessSubject } from '../samples/access.ts'
import type { CallsSample } from '../samples/calls.ts'
import type { FunctionsSubject } from '../samples/functions.ts'
import type { NeighbourSubject } from '../samples/neighbours.ts'
import type { RehearsalSubject } from '../samples/rehearsal.ts'
import type { RulesSubject } from '../samples/rules.ts'
import type { RolloutSubject } from '../samples/rollouts.ts'

const CALLS = [
  ['per second', middle(({ perSecond }: CallsSample) => perSecond, rate)],
  ['ms p50', middle(({ p50 }: CallsSample) => p50)],
  ['ms p99', middle(({ p99 }: CallsSample) => p99)],
] as const

export const alarms = measurement('alarms', {
  name: 'alarms',
  title: 'Alarms on SQLite, synced to the disk, by the clock',
  lines: [
    { name: 'raise', title: 'raised on 10,000 sources, 64 in flight', request: { subject: 'raise' }, maxRounds: 3 },
    {
      name: 'list',
      title: 'page and total of the alarms with a source and a status, among 1 M',
      request: { subject: 'list' },
    },
  ],
  maxRounds: 1,
  cost: ({ perSecond }) => 1e6 / perSecond,
  costUnit: 'us each',
  what: 'alarms',
  columns: CALLS,
})

export const resources = measurement('resources', {
  name: 'resources',
  title: 'Resources on SQLite: 100,000 of 20 types, by the clock',
  lines: [{ name: 'list', title: 'page of 100 and total, of a type, a tag and a text', request: { count: 100_000 } }],
  maxRounds: 1,
  cost: ({ perSecond }) => 1e6 / perSecond,
  costUnit: 'us each',
  what: 'resources',
  columns: CALLS,
})

const FUNCTIONS: Readonly<Record<FunctionsSubject, string>> = {
  'calls-node': 'Node, 32 calls at a time',
  'calls-python': 'Python, 32 calls at a time',
  'half-node': 'Node, 5,000 calls a second',
  'cold-node': 'Node, no process yet',
  'cold-python': 'Python, no process yet',
  idle: '200 versions, each called once',
}

export const functions = measurement('functions', {
  name: 'functions',
  title: 'Functions: a fenced sensor plug called by the host, by the clock',
  lines: (Object.keys(FUNCTIONS) as FunctionsSubject[]).map((subject): LinePlan<'functions'> => {
    return { name: subject, title: FUNCTIONS[subject], request: { subject } }
  }),
  maxRounds: 5,
  cost: ({ p99 }) => p99 * 1_000,
  costUnit: 'us p99',
  what: 'calls',
  columns: [
    ['a second', middle(({ perSecond }) => perSecond, rate)],
    ['ms p50', middle(({ p50 }) => p50)],
    ['p99', middle(({ p99 }) => p99)],
    ['processes left', middle(({ processes }) => processes)],
    ['memory of the host', middle(({ memory }) => memory, megabytes)],
  ],
})

const REHEARSALS: Readonly<Record<RehearsalSubject, string>> = {
  month: 'a month of one resource',
  sweep: 'the same with 10 values',
  fleet: 'a month of 40 resources',
  many: 'three days of 1,000 resources',
  kept: '43,200 kept inputs of one resource',
  state: 'state at an instant, 10,000 inputs',
  beside: 'posts beside a month of 40 resources',
  keeping: '80,000 posts that are kept',
}

export const rehearsal = measurement('rehearsal', {
  name: 'rehearsal',
  title: 'Rehearsals on SQLite over series at one a minute and kept inputs, by the clock',
  lines: (Object.keys(REHEARSALS) as RehearsalSubject[]).map((subject): LinePlan<'rehearsal'> => {
    return { name: subject, title: REHEARSALS[subject], request: { subject } }
  }),
  maxRounds: 3,
  cost: ({ ms }) => ms * 1_000,
  costUnit: 'us each',
  what: 'what',
  columns: [
    ['ms', middle(({ ms }) => ms)],
    ['messages a second of CPU', middle(({ messages, cpu }) => (messages * 1_000) / cpu, rate)],
    ['the loop was held, ms p99', middle(({ held }) => held)],
    ['memory of the host', middle(({ rss }) => rss, megabytes)],
    [
      'times that without',
      ({ samples }) => {
        const times = median(samples.map((one) => one.times))
        return Number.isNaN(times) ? '' : digits(times)
      },
    ],
  ],
})

const ROLLOUTS: Readonly<Record<RolloutSubject, string>> = {
  alone: 'one task a resource',
  shadow: 'the same, with a shadow each',
  second: 'the same, with a second task each',
}

export const rollouts = measurement('rollouts', {
  name: 'rollouts',
  title: 'Roll-outs: CPU time of a message to 1,000 tasks with shadows, without HTTP and disk',
  lines: (Object.keys(ROLLOUTS) as RolloutSubject[]).map((subject): LinePlan<'rollouts'> => {
    return { name: subject, title: ROLLOUTS[subject], request: { subject } }
  }),
  maxRounds: 5,
  cost: ({ us }) => us,
  costUnit: 'us each',
  what: 'what',
  columns: [
    ['us', middle(({ us }) => us)],
    [
      'times a task alone',
      ({ samples }, all) => {
        const base = all.find((line) => line.name === 'alone')
        return digits(median(samples.flatMap(({ us }, round) => us / (base?.samples[round]?.us ?? NaN))))
      },
    ],
  ],
})

const ACCESS: Readonly<Record<AccessSubject, string>> = {
  posts: 'post over HTTP',
  'posts-tls': 'post over HTTPS',
  scope: 'check of a scope',
  session: 'check of a session that is not remembered',
  token: 'check of a token that is not remembered',
  remembered: 'check of a token that is remembered for a minute',
  write: 'change of a resource over HTTP on SQLite',
  audited: 'the same, audited',
}
/** Lines by the line that they are compared with */
const BASES: Readonly<Record<string, string>> = { 'posts-tls': 'posts', audited: 'write' }

export const access = measurement('access', {
  name: 'access',
  title: 'Access: CPU time of one thread',
  lines: (Object.keys(ACCESS) as AccessSubject[]).map((subject): LinePlan<'access'> => {
    return { name: subject, title: ACCESS[subject], request: { subject } }
  }),
  maxRounds: 5,
  cost: ({ us }) => us,
  costUnit: 'us each',
  what: 'what',
  columns: [
    ['us', middle(({ us }) => us)],
    [
      'times that without',
      ({ name, samples }, all) => {
        const base = all.find((line) => line.name === BASES[name])
        const shares = samples.flatMap(({ us }, round) => us / (base?.samples[round]?.us ?? NaN))
        return base === undefined ? '' : digits(median(shares))
      },
    ],
  ],
})

const NEIGHBOURS: Readonly<Record<NeighbourSubject, string>> = {
  convert: 'a template of 30,000 rounds is tried',
  log: 'an actuator is tried with 3,000 tags',
  simulate: '15,000 messages are simulated',
}

export const neighbours = measurement('neighbours', {
  name: 'neighbours',
  title: 'Neighbours: posts of one tenant beside another with eight connections, by the clock',
  lines: (Object.keys(NEIGHBOURS) as NeighbourSubject[]).map((subject): LinePlan<'neighbours'> => {
    return { name: subject, title: NEIGHBOURS[subject], request: { subject } }
  }),
  maxRounds: 3,
  cost: ({ beside }) => beside * 1_000,
  costUnit: 'us p99',
  what: 'beside',
  columns: [
    ['p99 alone', middle(({ quiet }) => quiet)],
    ['p99 beside', middle(({ beside }) => beside)],
    ['times alone', middle(({ quiet, beside }) => beside / quiet)],
    ['requests beside', middle(({ requests }) => requests)],
  ],
})

export const registry = measurement('registry', {
  name: 'registry',
  title: 'Registry of functions: lists of 10,000 versions by tags and wql, by the clock',
  lines: [{ name: 'list', title: 'lists', request: { versions: 10_000 } }],
  maxRounds: 5,
  cost: ({ p99 }) => p99 * 1_000,
  costUnit: 'us p99',
  what: 'what',
  columns: [
    ...CALLS,
    [
      'the loop was held at most',
      middle(
        ({ held }) => held,
        (ms) => `${digits(ms)} ms`,
      ),
    ],
    ["ms of the host's CPU each", middle(({ cpu }) => cpu)],
  ],
})

const RULES: Readonly<Record<RulesSubject, string>> = {
  push: 'push to an empty host',
  again: 'push without changes',
  pull: 'pull into an empty folder',
}

export const rules = measurement('rules', {
  name: 'rules',
  title: 'Rules as files: 10,000 documents and a host on SQLite, by the clock',
  lines: (Object.keys(RULES) as RulesSubject[]).map((subject): LinePlan<'rules'> => {
    return { name: subject, title: RULES[subject], request: { subject, documents: 10_000 } }
  }),
  maxRounds: 2,
  cost: ({ ms }) => ms * 1_000,
  costUnit: 'us each',
  what: 'what',
  columns: [
    ['s', middle(({ ms }) => ms / 1_000)],
    ["ms of the host's CPU", middle(({ cpu }) => cpu)],
  ],
})
