/** x */
import { Answer } from '../parts/layout.tsx'
export function Alarms() { return <Answer title="Alarms" /> }
