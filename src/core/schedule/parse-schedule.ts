import type { Issue } from '../../kernel/errors.ts'
import { never, once } from './once-or-never.ts'
import { fixedDelay, fixedRate } from './periodic.ts'
import type { Schedule, ScheduleSettings } from './schedule.ts'
import { quoted, scheduleError, scheduleProblem } from './schedule-problem.ts'

const YEAR_MS = 366 * 86_400_000

/**
 * The clock that task settings ask for (part 2, 2.1 and 2.2). Throws `SCHEDULE` with all problems at once.
 */
export function parseSchedule(settings: ScheduleSettings): Schedule {
  const problems: Issue[] = []
  const schedule = read(settings, problems)
  if (schedule === undefined || problems.length > 0) throw scheduleError(problems)
  return schedule
}

function read(settings: ScheduleSettings, problems: Issue[]): Schedule | undefined {
  if (settings.type === 'onetime') return once(settings.start)
  if (settings.type === 'reactive') return never()
  if (settings.type === 'periodic') {
    const { frequency, start } = settings
    if (!Number.isInteger(frequency) || frequency < 1 || frequency > YEAR_MS) {
      problems.push(
        scheduleProblem(
          'frequency',
          `${quoted(frequency)} is not a frequency`,
          `write whole milliseconds from 1 to ${YEAR_MS} (a year)`,
        ),
      )
      return undefined
    }
    return settings.pollingFixedRate === false ? fixedDelay(frequency, start) : fixedRate(frequency, start)
  }
  problems.push(scheduleProblem('cron', 'cron and rrule are on their way'))
  return undefined
}
