/** The overview in words. */
import { capital, countText, listText } from './numbers.ts'

/** Returns one sentence about what needs attention. `calls`: calls of actuators that failed for good. */
export function overviewAnswer(alarms: number, tasks: number, calls: number): string {
  const parts = [
    ...(alarms > 0 ? [`${countText(alarms, 'alarm')} ${alarms === 1 ? 'needs' : 'need'} action`] : []),
    ...(tasks > 0 ? [`${countText(tasks, 'task')} ${tasks === 1 ? 'needs' : 'need'} a look`] : []),
    ...(calls > 0
      ? [calls === 1 ? '1 call of an actuator has failed' : `${calls} calls of actuators have failed`]
      : []),
  ]
  return parts.length === 0 ? 'Nothing needs action' : capital(listText(parts))
}
