/** The overview in words. */
import { capital, countText, listText } from './numbers.ts'

/** Returns one sentence about what needs attention. */
export function overviewAnswer(alarms: number, tasks: number): string {
  const parts = [
    ...(alarms > 0 ? [`${countText(alarms, 'alarm')} ${alarms === 1 ? 'needs' : 'need'} action`] : []),
    ...(tasks > 0 ? [`${countText(tasks, 'task')} ${tasks === 1 ? 'needs' : 'need'} a look`] : []),
  ]
  return parts.length === 0 ? 'Nothing needs action' : capital(listText(parts))
}
