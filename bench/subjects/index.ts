/**
 * Subjects, each loaded only in the process that measures it, so that dependencies of others do not affect the sample.
 */
import type { Program, Subject } from '../subject.ts'

export interface SubjectEntry {
  /** as in `--subjects` */
  name: string
  title: string
  load?(): Promise<Subject>
  program?(): Promise<Program>
  /** required tools; the subject is skipped with a message without them */
  needs?: 'java' | 'ekuiper'
  role: 'limit' | 'own' | 'peer'
  /** needs the packages of bench/package.json */
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
    name: 'why',
    title: 'reflexarc, events with why',
    role: 'own',
    load: async () => (await import('./reflexarc.ts')).reflexarcWhy,
  },
  { name: 'rxjs', title: 'rxjs 7.8.2, raw', role: 'peer', load: async () => (await import('./rxjs.ts')).rxjsRaw },
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
]

/** Throws for an unknown name or an external program. */
export async function loadSubject(name: string): Promise<Subject> {
  const subject = await subjectNamed(name).load?.()
  if (subject === undefined) throw new Error(`${name} runs in a process of its own`)
  return subject
}

export function subjectNamed(name: string): SubjectEntry {
  const entry = subjects.find((candidate) => candidate.name === name)
  if (entry === undefined) throw new Error(`"${name}" is not a subject`)
  return entry
}
