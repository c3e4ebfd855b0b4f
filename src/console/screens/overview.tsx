/** x */
import { Answer } from '../parts/layout.tsx'
export function Overview() { return <Answer title="Overview" /> }
