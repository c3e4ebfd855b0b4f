/**
 * Renders templates with whichever engine of Apache is on the class path. Reads JSON objects { template, data } line by
 * line and answers each with { output } or { error: "parse" | "run", message }.
 */
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
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
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            Map<?, ?> asked = JSON.readValue(line, LinkedHashMap.class);
            String template = (String) asked.get("template");
            Map<String, Object> data = (Map<String, Object>) asked.get("data");
            out.println(JSON.writeValueAsString(render(template, data)));
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
