/**
 * The table of subjects. Each is loaded only in the process that measures it, so that nothing another one needs
 * weighs on the sample.
 */
import type { Program, Subject } from '../subject.ts'

export interface SubjectEntry {
  /** as `--subjects` takes it */
  name: string
  /** as tables show it */
  title: string
  load?(): Promise<Subject>
  /** instead, of who runs in a process of another kind */
  program?(): Promise<Program>
  /** what the machine needs for it; left out, and said, where it is not there */
  needs?: 'java' | 'ekuiper'
  /** workloads in which it would only repeat another subject */
  skips?: readonly string[]
  /** whether it is this engine, the limit, or a peer */
  role: 'limit' | 'own' | 'peer'
  /** whether it comes with bench/package.json */
  installed?: boolean
}

export const CLOSURE = 'closure'
export const OWN = 'reflexarc'
export const PEER = 'json-rules-engine'

export const subjects: readonly SubjectEntry[] = [
  {
    name: CLOSURE,
    title: 'closure by hand (the limit)',
    role: 'limit',
    load: async () => (await import('./closure.ts')).closure,
  },
  { name: OWN, title: 'reflexarc', role: 'own', load: async () => (await import('./reflexarc.ts')).reflexarc },
  {
    name: 'logic',
    title: 'reflexarc, JSON Logic',
    role: 'own',
    load: async () => (await import('./reflexarc.ts')).reflexarcLogic,
    // The chain has no conditions to write in another way.
    skips: ['w4'],
  },
  {
    name: 'events',
    title: 'reflexarc, events counted',
    role: 'own',
    load: async () => (await import('./reflexarc.ts')).reflexarcEvents,
  },
  {
    name: 'why',
    title: 'reflexarc, events with why',
    role: 'own',
    load: async () => (await import('./reflexarc.ts')).reflexarcWhy,
  },
  {
    name: 'json-logic-engine',
    title: 'json-logic-engine 5.0.7, compiled (conditions only)',
    role: 'peer',
    installed: true,
    load: async () => (await import('./json-logic.ts')).jsonLogicEngine,
  },
  {
    name: 'alien-signals',
    title: 'alien-signals 3.2.1 (conditions only)',
    role: 'peer',
    installed: true,
    load: async () => (await import('./alien-signals.ts')).alienSignals,
  },
  { name: 'rxjs', title: 'rxjs 7.8.2, raw', role: 'peer', load: async () => (await import('./rxjs.ts')).rxjsRaw },
  {
    name: 'json-logic-js',
    title: 'json-logic-js 2.0.5 (conditions only)',
    role: 'peer',
    load: async () => (await import('./json-logic.ts')).jsonLogicJs,
  },
  {
    name: 'xstate',
    title: 'xstate 5.33.3, an actor per rule',
    role: 'peer',
    installed: true,
    load: async () => (await import('./xstate.ts')).xstate,
  },
  {
    name: 'rools',
    title: 'rools 2.3.0',
    role: 'peer',
    installed: true,
    load: async () => (await import('./rools.ts')).rools,
  },
  {
    name: 'node-rules',
    title: 'node-rules 9.2.0',
    role: 'peer',
    installed: true,
    load: async () => (await import('./node-rules.ts')).nodeRules,
  },
  {
    name: 'node-red',
    title: 'node-red 5.0.7, function nodes',
    role: 'peer',
    installed: true,
    load: async () => (await import('./node-red.ts')).nodeRed,
  },
  {
    name: PEER,
    title: 'json-rules-engine 7.3.1',
    role: 'peer',
    installed: true,
    load: async () => (await import('./json-rules-engine.ts')).jsonRulesEngine,
  },
  {
    name: 'drools',
    title: 'drools 8.44.0 (Java)',
    role: 'peer',
    needs: 'java',
    program: async () => (await import('../drools/drools.ts')).droolsSample,
  },
  {
    name: 'ekuiper',
    title: 'ekuiper 2.4.0 (Go)',
    role: 'peer',
    needs: 'ekuiper',
    program: async () => (await import('../ekuiper/ekuiper.ts')).ekuiperSample,
  },
  {
    name: 'zen',
    title: 'zen 0.52.1 (conditions only; its threads not counted)',
    role: 'peer',
    installed: true,
    load: async () => (await import('./zen.ts')).zen,
  },
]

/** The subject itself. Throws when there is none of that name, or it is a program. */
export async function loadSubject(name: string): Promise<Subject> {
  const subject = await subjectNamed(name).load?.()
  if (subject === undefined) throw new Error(`${name} runs in a process of its own`)
  return subject
}

/** Throws when there is none of that name. */
export function subjectNamed(name: string): SubjectEntry {
  const entry = subjects.find((candidate) => candidate.name === name)
  if (entry === undefined) throw new Error(`there is no subject "${name}"`)
  return entry
}
