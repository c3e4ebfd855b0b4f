/** The screens, in the order of the navigation. */
import type { IconName } from '../parts/icons.tsx'

export interface Place {
  readonly name: string
  readonly path: string
  readonly icon: IconName
  /** after `g` */
  readonly key: string
  /** in the bar of a phone */
  readonly onPhone: boolean
}

export const PLACES: readonly { readonly title: string; readonly places: readonly Place[] }[] = [
  {
    title: 'Watch',
    places: [
      { name: 'Overview', path: '', icon: 'overview', key: 'o', onPhone: true },
      { name: 'Alarms', path: 'alarms', icon: 'alarm', key: 'a', onPhone: true },
      { name: 'Alarm figures', path: 'figures', icon: 'timer', key: 'f', onPhone: false },
      { name: 'On call', path: 'on-call', icon: 'user', key: 'w', onPhone: false },
      { name: 'Resources', path: 'resources', icon: 'resource', key: 'r', onPhone: true },
      { name: 'Data', path: 'data', icon: 'data', key: 'd', onPhone: false },
    ],
  },
  {
    title: 'Rules',
    places: [
      { name: 'Tasks', path: 'tasks', icon: 'task', key: 't', onPhone: true },
      { name: 'Editor', path: 'editor', icon: 'editor', key: 'e', onPhone: false },
      { name: 'Rehearsal', path: 'rehearsal', icon: 'rehearsal', key: 'h', onPhone: false },
      { name: 'Roll-outs', path: 'rollouts', icon: 'forward', key: 'v', onPhone: false },
    ],
  },
  {
    title: 'Host',
    places: [{ name: 'Operations', path: 'operations', icon: 'operations', key: 'p', onPhone: false }],
  },
]

export const ALL_PLACES = PLACES.flatMap(({ places }) => places)
