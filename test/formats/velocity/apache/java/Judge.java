/**
 * Renders templates with whichever engine of Apache is on the class path. Reads JSON objects { template, data } line by
 * line and answers each with { output } or { error: "parse" | "run", message }. With "bench" and milliseconds as
 * arguments it answers { perSecond }: how often it renders the template, parsed once and warm.
 */
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.StringWriter;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.velocity.Template;
import org.apache.velocity.VelocityContext;
import org.apache.velocity.app.VelocityEngine;
import org.apache.velocity.exception.ParseErrorException;
import org.apache.velocity.exception.TemplateInitException;
import org.apache.velocity.runtime.resource.loader.StringResourceLoader;

public class Judge {
    private static final ObjectMapper JSON = new ObjectMapper();

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        long benchMs = args.length == 2 ? Long.parseLong(args[1]) : 0;
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            Map<?, ?> asked = JSON.readValue(line, LinkedHashMap.class);
            String template = (String) asked.get("template");
            Map<String, Object> data = (Map<String, Object>) asked.get("data");
            out.println(JSON.writeValueAsString(benchMs > 0 ? bench(template, data, benchMs) : render(template, data)));
        }
    }

    private static Map<String, Object> render(String template, Map<String, Object> data) {
        Map<String, Object> answer = new LinkedHashMap<>();
        StringWriter writer = new StringWriter();
        try {
            engine().evaluate(new VelocityContext(data), writer, "judged", template);
            answer.put("output", writer.toString());
        } catch (Throwable thrown) {
            boolean isParse = thrown instanceof ParseErrorException || thrown instanceof TemplateInitException;
            answer.put("error", isParse ? "parse" : "run");
            answer.put("message", String.valueOf(thrown.getMessage()));
        }
        return answer;
    }

    private static Map<String, Object> bench(String text, Map<String, Object> data, long ms) throws Exception {
        VelocityEngine engine = engine();
        StringResourceLoader.getRepository().putStringResource("judged", text);
        Template template = engine.getTemplate("judged");
        run(template, data, ms);
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("perSecond", run(template, data, ms));
        return answer;
    }

    private static double run(Template template, Map<String, Object> data, long ms) {
        long begin = spent();
        long end = begin + ms * 1_000_000;
        long count = 0;
        while (spent() < end) {
            for (int i = 0; i < 100; i++) template.merge(new VelocityContext(new LinkedHashMap<>(data)), new StringWriter());
            count += 100;
        }
        return count * 1e9 / (spent() - begin);
    }

    /** ns of CPU time of this thread. */
    private static long spent() {
        return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    }

    /** A new one for each template: macros of one must not be those of another. */
    private static VelocityEngine engine() {
        VelocityEngine engine = new VelocityEngine();
        engine.setProperty("resource.loader", "string");
        engine.setProperty("string.resource.loader.class", StringResourceLoader.class.getName());
        if (isOld()) engine.setProperty("runtime.log.logsystem.class", "org.apache.velocity.runtime.log.NullLogChute");
        engine.init();
        return engine;
    }

    private static boolean isOld() {
        try {
            Class.forName("org.apache.velocity.runtime.log.NullLogChute");
            return true;
        } catch (ClassNotFoundException none) {
            return false;
        }
    }
}
