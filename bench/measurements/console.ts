/** The console: sizes, and times in Chromium, with their limits. */
import { digits } from '../figures.ts'
import { type LinePlan, measurement, middle } from '../measurement.ts'
import type { ConsoleSubject } from '../samples/console.ts'

const LINES: Readonly<Record<ConsoleSubject, readonly [title: string, limit: string]>> = {
  first: ['first view, kB zipped', '90'],
  editor: ['chunk of the editor, kB zipped', '200'],
  layout: ['layout of a graph of 300 nodes, ms', '300'],
  frames: ['work per frame at 200 changes per second with 1,000 tasks, CPU throttled to a quarter, ms', '16'],
  zoom: ['zoom of a plot of a million points, ms', '200'],
  streams: ['CPU of a host per post, added by the screen of a task that changes with 1 of 50 posts, %', '2'],
}

export const console = measurement('console', {
  name: 'console',
  title: 'Console: downloads of a browser, and times in Chromium by the clock',
  lines: (Object.keys(LINES) as ConsoleSubject[]).map((subject): LinePlan<'console'> => {
    return { name: subject, title: LINES[subject][0], request: { subject } }
  }),
  maxRounds: 3,
  cost: ({ figure }) => figure,
  costUnit: 'kB, ms or %',
  what: 'what',
  columns: [
    ['measured', middle(({ figure }) => figure, digits)],
    ['limit', ({ name }) => LINES[name as ConsoleSubject][1]],
  ],
})
