/** The tasks: a list, or one of them. */
import { lazyScreen } from '../parts/lazy.tsx'
import { path } from '../router.ts'
import { TaskList } from './task-list.tsx'

const Task = lazyScreen(async () => (await import('./task.tsx')).Task)

export function Tasks() {
  const [, id] = path.value
  return id === undefined ? <TaskList /> : <Task id={id} key={id} />
}
