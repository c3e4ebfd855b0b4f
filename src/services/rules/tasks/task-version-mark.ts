/** Marks a version of a task: its number, author and reason. */
export interface TaskVersionMark {
  /** counts from 1, and rises when the rule or its settings change */
  readonly number: number
  readonly user: string
  /** epoch ms */
  readonly createTime: number
  readonly note?: string
}
