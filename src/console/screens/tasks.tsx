/** x */
import { Answer } from '../parts/layout.tsx'
export function Tasks() { return <Answer title="Tasks" /> }
