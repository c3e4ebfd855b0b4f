/**
 * The table of subjects. Each is loaded only in the process that measures it, so that nothing another one needs
 * weighs on the sample.
 */
import type { Subject } from '../subject.ts'

export interface SubjectEntry {
  /** as `--subjects` takes it */
  name: string
  /** as tables show it */
  title: string
  load(): Promise<Subject>
  /** workloads in which it would only repeat another subject */
  skips?: readonly string[]
}

export const CLOSURE = 'closure'
export const PEER = 'json-rules-engine'

export const subjects: readonly SubjectEntry[] = [
  { name: CLOSURE, title: 'closure by hand (the limit)', load: async () => (await import('./closure.ts')).closure },
  { name: 'reflexarc', title: 'reflexarc', load: async () => (await import('./reflexarc.ts')).reflexarc },
  {
    name: 'logic',
    title: 'reflexarc (json logic)',
    load: async () => (await import('./reflexarc.ts')).reflexarcLogic,
    // The chain has no conditions to write in another way.
    skips: ['w4'],
  },
  { name: 'events', title: 'reflexarc (events)', load: async () => (await import('./reflexarc.ts')).reflexarcEvents },
  { name: 'why', title: 'reflexarc (why)', load: async () => (await import('./reflexarc.ts')).reflexarcWhy },
  {
    name: PEER,
    title: 'json-rules-engine 7.3.1',
    load: async () => (await import('./json-rules-engine.ts')).jsonRulesEngine,
  },
]
